/**
 * Void text: what a model step had produced before its model call was repeated. The log deletes it when `reset-step` is
 * written; this removes it from entries that were read into memory before that. Pure.
 */
import type { LogEntry } from './event.ts';

export function withoutVoidText(entries: LogEntry[]): LogEntry[] {
  return withoutVoidItems(entries, (entry) => entry);
}

/** The same for items that contain an entry. */
export function withoutVoidItems<T>(items: T[], entryOf: (item: T) => LogEntry): T[] {
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
        return index < start || !isSameAgent(entry) || !isModelOutput(entry);
      });
    }
    kept.push(item);
  }
  return kept;
}

function isModelOutput({ event: { type } }: LogEntry): boolean {
  return type === 'start-step' || type.startsWith('text-') || type.startsWith('reasoning-');
}
