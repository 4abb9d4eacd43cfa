import { randomUUID } from 'node:crypto';
import type { LogEntry, TurnEvent } from '../../../src/turn/event.ts';
import type { ConversationRef, TurnRef } from '../../../src/turn/turn.ts';
import type { CallAttempt } from '../../../src/storage/tables/call-attempt.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import type { NewTurn, Replacing } from '../../../src/storage/tables/turn-lifecycle.ts';
import type { Storage } from '../../../src/storage/storage.ts';

/** A turn of a conversation of its own, in a tenant of its own, unless said otherwise. */
export function newTurn(given: Partial<NewTurn> = {}): NewTurn {
  const id = randomUUID();
  return {
    tenant: `tenant-${id}`,
    conversation: `conversation-${id}`,
    turnId: `turn-${id}`,
    agent: 'assistant',
    user: 'alice',
    capabilities: { url: true, form: true },
    clientMessageId: `message-${id}`,
    messages: [{ id: `message-${id}`, role: 'user', content: 'Good morning' }],
    ...given,
  };
}

export async function begunTurn(storage: Storage, given: Partial<NewTurn> = {}): Promise<NewTurn> {
  const turn = newTurn(given);
  await storage.turns.prepare(turn, ending);
  await storage.turns.begin(turn);
  return turn;
}

const resultOf: Replacing['resultOf'] =
  (_, status) =>
  ({ toolCallId, toolName }) => ({
    message: { id: `unfinished/${toolCallId}`, role: 'tool', content: status },
    event: {
      key: `result/${toolCallId}`,
      event: { type: 'tool-output-error', toolCallId, toolName, errorText: status },
    },
  });

/** A new message cancels the live turn, also a busy one. */
export const ending: Replacing = { onBusy: 'cancel', resultOf };
/** A new message takes the place of a turn that waits, and is refused while one is at work. */
export const refuseWhileBusy: Replacing = { onBusy: 'refuse', resultOf };

/** The first attempt at the first execution of a call. */
export const firstAttempt: CallAttempt = { execution: 0, attempt: 1 };

/** A step that has left this behind. Every call makes one of its own. */
export async function keptStep(
  storage: Storage,
  turn: TurnRef,
  { events = [], messages = [], calls = [], ...kept }: Partial<Parameters<Storage['steps']['keep']>[2]>,
): Promise<void> {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const of = { step: steps++, attempt: 1 };
  await storage.steps.keep(turn, of, { finish: 'stop', usage, events, messages, calls, ...kept });
}

let steps = 1_000;

export function text(key: string, delta = key, id = 'part'): NewEvent {
  return { key, event: { type: 'text-delta', id, delta } };
}

export function step(number: number): NewEvent {
  return { key: `step/${number}`, event: { type: 'start-step', step: number } };
}

/** The deltas of a log, in order, after the `turn-started` that every log begins with. */
export async function deltas(storage: Storage, ref: ConversationRef): Promise<string[]> {
  return (await storage.turnLog.read(ref, 0)).flatMap(({ event }) => ('delta' in event ? [event.delta] : []));
}

export async function seqs(storage: Storage, ref: ConversationRef): Promise<number[]> {
  return (await storage.turnLog.read(ref, 0)).map(({ seq }) => seq);
}

export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Follows until the turn ends. */
export async function followToEnd(storage: Storage, turn: TurnRef, after = 0): Promise<LogEntry[]> {
  const controller = new AbortController();
  const entries: LogEntry[] = [];
  for await (const batch of storage.turnLog.follow(turn, after, controller.signal)) {
    entries.push(...batch);
    if (batch.some(({ event }) => event.type === 'turn-ended')) break;
  }
  return entries;
}

/** What a reader ends up with: each part's text, and all other events in order. */
export function story(events: TurnEvent[]): { texts: Record<string, string>; others: TurnEvent[] } {
  const texts: Record<string, string> = {};
  const others: TurnEvent[] = [];
  for (const event of events) {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
      const name = `${event.type} ${event.id}`;
      texts[name] = (texts[name] ?? '') + event.delta;
    } else others.push(event);
  }
  return { texts, others };
}
