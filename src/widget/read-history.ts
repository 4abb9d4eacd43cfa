import type { Client, PageOptions } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import type { Message } from './message.ts';

export interface History {
  messages: Message[];
  /** A turn is at work; its message comes with its stream. */
  isLive: boolean;
  /** Where the feed goes on. */
  position: number;
  /** The cursor of what was said before; `null` when this is the beginning. */
  earlier: string | null;
}

/** Turns that are read at once: more than fit on a screen, and few enough to be there at once. */
const limit = 30;

/** What was said last, or last before `cursor`; `null` in a conversation that nobody has begun. */
export async function readHistory(
  client: Client,
  conversationId: string,
  options: PageOptions,
): Promise<History | null> {
  try {
    const { messages, turn, position } = await client.conversation(conversationId, { limit, ...options });
    const { items, next } = messages;
    return { messages: items as Message[], isLive: turn !== null, position, earlier: next };
  } catch (error) {
    if (error instanceof InterludeError && error.status === 404) return null;
    throw error;
  }
}

/** The newest page, after what is on the screen of before it. With a gap between the two, the older part is left out. */
export function withNewest(shown: Message[], newest: Message[]): Message[] {
  const [first] = newest;
  const known = shown.findIndex(({ id }) => id === first?.id);
  return [...shown.slice(0, Math.max(0, known)), ...newest];
}

/** Each message once, however often a page came. */
export function withEarlier(shown: Message[], earlier: Message[]): Message[] {
  const known = new Set(shown.map(({ id }) => id));
  return [...earlier.filter(({ id }) => !known.has(id)), ...shown];
}
