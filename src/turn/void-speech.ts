/**
 * What a repeated model call takes back, among entries that somebody holds in memory. In the log it is gone as soon as
 * `reset-step` stands there; whoever read before that leaves it out here. Pure.
 */
import type { LogEntry } from './event.ts';

export function withoutVoidSpeech(entries: LogEntry[]): LogEntry[] {
  return withoutVoid(entries, (entry) => entry);
}

/** The same for what has an entry. */
export function withoutVoid<T>(items: T[], entryOf: (item: T) => LogEntry): T[] {
  let kept: T[] = [];
  for (const item of items) {
    const { turnId, event } = entryOf(item);
    if (event.type === 'reset-step') {
      const isSameAgent = (entry: LogEntry) =>
        entry.turnId === turnId && entry.event.parentToolCallId === event.parentToolCallId;
      const start = kept.findLastIndex((earlier) => {
        const entry = entryOf(earlier);
        return entry.event.type === 'start-step' && isSameAgent(entry);
      });
      kept = kept.filter((earlier, index) => {
        const entry = entryOf(earlier);
        return index < start || !isSameAgent(entry) || !isSpeech(entry);
      });
    }
    kept.push(item);
  }
  return kept;
}

function isSpeech({ event: { type } }: LogEntry): boolean {
  return type === 'start-step' || type.startsWith('text-') || type.startsWith('reasoning-');
}
