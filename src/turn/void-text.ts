/**
 * Void text: what a model step had produced before its model call was repeated. The log deletes it when `reset-step` is
 * written; this removes it from entries that were read into memory before that, and nothing from those that were read
 * since. Pure.
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
      // Not from the last `start-step` on: the log may have deleted it, and the one before is of a step that counts.
      const finished = kept.findLastIndex((earlier) => {
        const entry = entryOf(earlier);
        return entry.event.type === 'finish-step' && isSameAgent(entry);
      });
      kept = kept.filter((earlier, index) => {
        const entry = entryOf(earlier);
        return index < finished || !isSameAgent(entry) || !isModelOutput(entry);
      });
    }
    kept.push(item);
  }
  return kept;
}

function isModelOutput({ event: { type } }: LogEntry): boolean {
  return type === 'start-step' || type.startsWith('text-') || type.startsWith('reasoning-');
}
