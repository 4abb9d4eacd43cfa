import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import type { Message } from './message.ts';

export interface History {
  messages: Message[];
  /** Turns whose messages are among these. */
  ended: string[];
  /** The turn that is at work; its message comes with its stream. */
  live: string | null;
  /** Where the feed goes on. */
  position: number;
}

/** What was said, its last hundred turns; `null` in a conversation that nobody has begun. */
export async function readHistory(
  client: Client,
  conversationId: string,
  signal?: AbortSignal,
): Promise<History | null> {
  try {
    const options = { limit: 100, ...(signal && { signal }) };
    const { messages, turn, position } = await client.conversation(conversationId, options);
    const said = messages.items as Message[];
    return {
      messages: said,
      ended: said.flatMap(({ id, role }) => (role === 'assistant' ? [id] : [])),
      live: turn?.turnId ?? null,
      position,
    };
  } catch (error) {
    if (error instanceof InterludeError && error.status === 404) return null;
    throw error;
  }
}
