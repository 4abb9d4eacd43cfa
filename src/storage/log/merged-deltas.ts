/**
 * A finished text needs one row, not one per delta. The merged row replaces its last part and keeps `parts` (sequence number
 * and length of each original), so that a reader whose cursor is inside gets exactly the rest. Only deltas with consecutive
 * numbers are merged: if another entry lay between two parts, its number as a cursor would not tell whether the first of them
 * was read. Pure.
 */
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import { isDelta } from '../../turn/event.ts';

type Delta = Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>;
type DeltaEntry = { seq: number; event: Delta };

interface Merge {
  /** Rows with a new event. */
  replaced: { seq: number; event: Delta }[];
  /** Rows that are now part of a later one. */
  removed: number[];
}

export function mergeDeltas(entries: Pick<LogEntry, 'seq' | 'event'>[]): Merge {
  const merge: Merge = { replaced: [], removed: [] };
  let run: DeltaEntry[] = [];
  for (const { seq, event } of entries) {
    if (!isDelta(event) || !continues(run.at(-1), { seq, event })) {
      mergeRun(run, merge);
      run = [];
    }
    if (isDelta(event)) run.push({ seq, event });
  }
  mergeRun(run, merge);
  return merge;
}

function continues(last: DeltaEntry | undefined, next: DeltaEntry): boolean {
  if (last?.event.type !== next.event.type || last.event.id !== next.event.id) return false;
  return last.seq + 1 === partsOf(next)[0]?.[0];
}

function mergeRun(run: DeltaEntry[], merge: Merge): void {
  const last = run.at(-1);
  if (!last || run.length === 1) return;
  const delta = run.map(({ event }) => event.delta).join('');
  const parts = run.flatMap((entry) => partsOf(entry));
  merge.replaced.push({ seq: last.seq, event: { ...last.event, delta, parts } });
  merge.removed.push(...run.slice(0, -1).map(({ seq }) => seq));
}

/** The part of an entry with `seq > after` that a reader at `after` has not seen. */
export function remainder(event: TurnEvent, after: number): TurnEvent {
  if (!isDelta(event) || !event.parts) return event;
  const { parts, ...rest } = event;
  const seen = parts.reduce((length, [seq, partLength]) => (seq <= after ? length + partLength : length), 0);
  return { ...rest, delta: rest.delta.slice(seen) };
}

function partsOf({ seq, event }: DeltaEntry): [seq: number, length: number][] {
  return event.parts ?? [[seq, event.delta.length]];
}
