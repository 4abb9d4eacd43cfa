/** Whether a database and a Temporal belong together, decided by their two records; and messages for operators. */
import type { InstallationRow } from '../../storage/tables/installation.ts';
import type { Mark } from './mark.ts';

/**
 * - `no-mark`: Temporal has no mark, and knows none of the database's turns.
 * - `other-installation`: its mark is another installation's.
 * - `database-older`: its mark is ahead of the database.
 * - `temporal-older`: the database is ahead of the mark, which is always written first.
 * - `forked`: both are at the same generation, but the mark was written by another copy of the database.
 */
export type Reason = 'no-mark' | 'other-installation' | 'database-older' | 'temporal-older' | 'forked';

export type Belonging =
  | { kind: 'together' }
  /** One of them does not answer. */
  | { kind: 'unknown'; detail: string; cause?: unknown }
  | { kind: 'apart'; reason: Reason };

/** `unconfirmed`: together, but the last generation is not in the database yet. */
export function compare(
  row: InstallationRow | null,
  mark: Mark | null,
): 'together' | 'unconfirmed' | 'unmarked' | Reason {
  if (mark === null) return 'unmarked';
  if (row?.id !== mark.installation) return 'other-installation';
  const ahead = mark.generation - row.generation;
  if (ahead === 0) return mark.token === row.token ? 'together' : 'forked';
  if (ahead === 1 && mark.token === row.nextToken) return 'unconfirmed';
  return ahead > 0 ? 'database-older' : 'temporal-older';
}

const why: Record<Reason, string> = {
  'no-mark':
    'Temporal has no mark of this installation and knows none of its turns. This is a copy of the database, or Temporal has lost its data.',
  'other-installation': 'Temporal carries the mark of another installation on this task queue.',
  'database-older':
    'the database is older than Temporal. It was restored to an earlier time, or another copy of it is in use.',
  'temporal-older': 'Temporal is older than the database. It was restored to an earlier time.',
  forked: 'another copy of this database has gone on with this Temporal.',
};

const remedy =
  'Compare them with: interlude installation status. Then decide: interlude installation adopt --turns end|restart';

export function explain(reason: Reason): string {
  return `The database and Temporal do not belong together: ${why[reason]} No turn, signal or server is touched until an operator has decided. ${remedy}`;
}

export class NotTogether extends Error {
  override name = 'NotTogether';
}
