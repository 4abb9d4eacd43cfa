/** Reads the stored messages that an agent's model is given. */
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Turn } from '../../turn/turn.ts';
import { taskIn } from './delegate-tool.ts';

/** A delegated agent is given its task and its own messages, and nothing of the conversation. */
export async function readTranscript(
  { messages, toolCalls }: Pick<Storage, 'messages' | 'toolCalls'>,
  turn: Turn,
): Promise<StoredMessage[]> {
  const { turnId, delegation } = turn;
  if (!delegation) return messages.list(turn);
  const [own, call] = await Promise.all([messages.list(turn), toolCalls.get(turn, delegation.toolCallId)]);
  const content = taskIn(call?.input) ?? '';
  return [{ id: `${turnId}/agent/${delegation.toolCallId}`, turnId, role: 'user', content }, ...own];
}
