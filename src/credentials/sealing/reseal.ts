/**
 * Brings everything that is sealed to the newest key of the ring. Processes may be at work meanwhile: each value is
 * written only if it is still the one that was read, and what somebody has changed is looked at again in the next pass.
 * Stopped anywhere, it has harmed nothing, and goes on where it was when it is run again.
 */
import type { SealedTable, SealedValue } from '../../storage/ports/sealed-values.ts';
import type { Storage } from '../../storage/storage.ts';
import { contextOf } from './contexts.ts';
import { forgetUnusedKeys } from './key-proofs.ts';
import { prefixOf, sealedWith, SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import { underLock } from '../under-lock.ts';

export interface ResealReport {
  tables: TableReport[];
  /** Keys of the ring that nothing is sealed with. */
  unused: string[];
  wasStopped: boolean;
}

/** Counts by the name of the key that the values are (or were) sealed with. */
export interface TableReport {
  table: SealedTable;
  /** Opened and sealed afresh; in a dry run, those that would be. */
  resealed: Map<string, number>;
  /** Sealed with the newest key now. */
  newest: number;
  /** Can be opened and still are under an older key: somebody goes on sealing with it, or holds them. */
  remaining: Map<string, number>;
  /** Do not open: the key is missing, or the value is damaged. */
  unreadable: Map<string, number>;
}

export interface ResealOptions {
  storage: Pick<Storage, 'sealed' | 'connections' | 'keyProofs'>;
  keys: KeyRing;
  /** Counts what there is to do and does nothing. Default false. */
  dryRun?: boolean;
  signal?: AbortSignal;
  /** After every batch of a table. `of` is what there was at the beginning. */
  onProgress?: (progress: { table: SealedTable; done: number; of: number }) => void;
  batchSize?: number;
  /** How long a connection that somebody renews is waited for; then it is left to the next pass. Default 20 s. */
  lockWaitMs?: number;
}

interface Change {
  value: SealedValue;
  keyId: string;
  sealed: string;
}

/** Writers that seal with an older key and never stop must not keep it from coming to an end. */
const writingPasses = 4;

export async function reseal(options: ResealOptions): Promise<ResealReport> {
  const { storage, keys, dryRun = false, signal } = options;
  const tables: TableReport[] = [];
  for (const table of storage.sealed.tables) tables.push(await resealTable(table, options));
  if (signal?.aborted) return { tables, unused: [], wasStopped: true };
  const [, ...older] = keys.ids;
  const unused: string[] = [];
  // Counted at the very end: in the tables that came first, somebody may have written since.
  for (const keyId of older) if (!(await isUsed(storage, keyId))) unused.push(keyId);
  if (!dryRun) await forgetUnusedKeys(storage, keys, (keyId) => isUsed(storage, keyId));
  return { tables, unused, wasStopped: false };
}

async function isUsed({ sealed }: Pick<Storage, 'sealed'>, keyId: string): Promise<boolean> {
  for (const table of sealed.tables)
    if ((await sealed.count(table, prefixOf(keyId))).withPrefix > 0) return true;
  return false;
}

async function resealTable(table: SealedTable, options: ResealOptions): Promise<TableReport> {
  const { storage, keys, dryRun = false, signal } = options;
  const prefix = prefixOf(keys.ids[0] ?? '');
  const resealed = new Map<string, number>();
  let pass = { readable: new Map<string, number>(), unreadable: new Map<string, number>() };
  for (let count = 1; !signal?.aborted; count += 1) {
    const isWriting = !dryRun && count <= writingPasses;
    pass = await goThrough(table, prefix, options, isWriting ? resealed : null);
    if (!isWriting || pass.readable.size === 0) break;
  }
  const { withPrefix: newest } = await storage.sealed.count(table, prefix);
  const { readable, unreadable } = pass;
  if (dryRun) return { table, resealed: readable, newest, remaining: new Map(), unreadable };
  // Of a pass that was cut short nobody has counted what it left.
  return { table, resealed, newest, remaining: signal?.aborted ? new Map() : readable, unreadable };
}

/** One pass over a table. What is sealed afresh is counted in `resealed`; null: only look. */
async function goThrough(
  table: SealedTable,
  prefix: string,
  options: ResealOptions,
  resealed: Map<string, number> | null,
) {
  const { storage, keys, signal, onProgress = () => undefined, batchSize = 200 } = options;
  const readable = new Map<string, number>();
  const unreadable = new Map<string, number>();
  const counted = await storage.sealed.count(table, prefix);
  const progress = { table, done: 0, of: counted.all - counted.withPrefix };
  for (let after: SealedValue | null = null; !signal?.aborted;) {
    const values: SealedValue[] = await storage.sealed.page(table, {
      except: [prefix],
      after,
      limit: batchSize,
    });
    const changes = values.flatMap((value) => {
      const change = changeOf(keys, value);
      add(change ? readable : unreadable, sealedWith(value.sealed) ?? '');
      return change ? [change] : [];
    });
    if (resealed) await write(options, changes, resealed);
    progress.done += values.length;
    if (values.length > 0) onProgress({ ...progress });
    after = values.at(-1) ?? null;
    if (values.length < batchSize) break;
  }
  return { readable, unreadable };
}

/** Null when it does not open. */
function changeOf(keys: KeyRing, value: SealedValue): Change | null {
  const context = contextOf(value);
  const keyId = sealedWith(value.sealed);
  if (context === null || keyId === null) return null;
  try {
    return { value, keyId, sealed: keys.seal(keys.open(value.sealed, context), context) };
  } catch (error) {
    if (error instanceof SealingError) return null;
    throw error;
  }
}

async function write(
  options: ResealOptions,
  changes: Change[],
  resealed: Map<string, number>,
): Promise<void> {
  const { storage, lockWaitMs = 20_000 } = options;
  const replace = async (some: Change[]) => {
    const replaced = await storage.sealed.replace(some);
    for (const [index, { keyId }] of some.entries()) if (replaced[index]) add(resealed, keyId);
  };
  const connections = changes.flatMap((change) =>
    change.value.table === 'connections' ? [{ change, key: change.value }] : [],
  );
  for (const { change, key } of connections) {
    // Whoever renews an account writes only over what was there before: changed under them, the new tokens were lost.
    await underLock(
      storage.connections,
      { key, waitMs: lockWaitMs },
      () => replace([change]),
      () => undefined,
    );
  }
  const others = changes.filter(({ value }) => value.table !== 'connections');
  if (others.length > 0) await replace(others);
}

function add(counts: Map<string, number>, keyId: string): void {
  counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
}
