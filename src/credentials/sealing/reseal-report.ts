/** What `interlude keys reseal` says: tables, names of keys and counts, and never what is in a row. */
import type { ResealReport } from './reseal.ts';
import type { KeyRing } from './key-ring.ts';

interface Run {
  keys: Pick<KeyRing, 'ids'>;
  dryRun: boolean;
}

/** Whether all could be opened, and the older keys are not needed any more. */
export function isDone({ tables, unused, wasStopped }: ResealReport, { keys, dryRun }: Run): boolean {
  const opens = tables.every(({ unreadable }) => unreadable.size === 0);
  return !wasStopped && opens && (dryRun || unused.length === keys.ids.length - 1);
}

export function describeReseal({ tables, unused, wasStopped }: ResealReport, { keys, dryRun }: Run): string {
  const [newest = '', ...older] = keys.ids;
  const lines = [`The newest key is ${named(newest)}.`];
  for (const { table, resealed, newest: already, remaining, unreadable } of tables) {
    const did = dryRun ? 'to be re-encrypted from' : 're-encrypted from';
    lines.push(
      `${table}: ${[
        ...[...resealed].map(([id, count]) => `${count} ${did} ${named(id)}`),
        `${already} sealed with ${named(newest)} now`,
        ...[...remaining].map(([id, count]) => `${count} still sealed with ${named(id)}`),
        ...[...unreadable].map(([id, count]) => `${count} cannot be opened (${whyNot(id, keys)})`),
      ].join(', ')}`,
    );
  }
  if (wasStopped) return [...lines, 'Stopped before the end. Run it again: it goes on from here.'].join('\n');
  if (tables.some(({ remaining }) => remaining.size > 0))
    lines.push(
      `A process still seals with an older key, or holds an account. Run it again when all use ${named(newest)}.`,
    );
  const needed = older.filter((id) => !unused.includes(id));
  if (unused.length > 0)
    lines.push(
      `Nothing is sealed with ${unused.map(named).join(', ')}: it may be removed from INTERLUDE_KEYS once every process has ${named(newest)} first.`,
    );
  if (needed.length > 0) lines.push(`Still needed: ${needed.map(named).join(', ')}.`);
  return lines.join('\n');
}

function whyNot(id: string, { ids }: Pick<KeyRing, 'ids'>): string {
  if (id === '') return 'not a sealed value';
  return ids.includes(id)
    ? `sealed with ${named(id)}, but damaged or moved`
    : `sealed with ${named(id)}, which INTERLUDE_KEYS does not have`;
}

function named(id: string): string {
  return `"${id}"`;
}
