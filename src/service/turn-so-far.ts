/** A turn as it stands: what its log says by now, without waiting for more, and where to follow it from. */
import { turnEntries } from '../storage/log/turn-entries.ts';
import type { Storage } from '../storage/storage.ts';
import type { LogEntry } from '../turn/event.ts';
import { responseIdOf } from './answer-record.ts';
import type { FoundTurn, OwnTurn } from './own-turn.ts';

export interface TurnSoFar extends Pick<FoundTurn, 'agent' | 'status' | 'createdAt' | 'endedAt'> {
  turn: OwnTurn;
  /** Content of the message that the turn began with. */
  given: unknown;
  /** The client's name for that message. */
  clientMessageId: string;
  entries: LogEntry[];
  /** The position of the log to follow from. */
  position: number;
}

/** Null when it was withdrawn before it began. */
export async function turnSoFar(
  { turnLog, turns }: Pick<Storage, 'turnLog' | 'turns'>,
  turn: OwnTurn,
): Promise<TurnSoFar | null> {
  const row = await turns.get(turn);
  if (!row) return null;
  const position = await turnLog.latest(turn);
  const [entries, given] = await Promise.all([turnEntries(turnLog, turn, position), turns.given(row)]);
  const { agent, status, createdAt, endedAt, clientMessageId } = row;
  return {
    turn,
    agent,
    status,
    createdAt,
    endedAt,
    given,
    clientMessageId,
    entries,
    position,
  };
}

/** Which question of the turn was answered under this idempotency key; null when none was. */
export async function questionAnsweredUnder(
  { elicitations }: Pick<Storage, 'elicitations'>,
  turn: OwnTurn,
  idempotencyKey: string,
): Promise<string | null> {
  const questions = await elicitations.ofConversation(turn);
  for (const question of questions) {
    if (question.turnId !== turn.turnId) continue;
    // A key's id depends on nothing of the answer but the key.
    const responseId = responseIdOf(question, { action: 'cancel' }, idempotencyKey);
    if (await elicitations.recorded(question.id, responseId)) return question.id;
  }
  return null;
}
