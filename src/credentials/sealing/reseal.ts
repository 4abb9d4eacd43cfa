/**
 * Reseals everything with the newest key of the ring, while other processes work: a value is only written if it is still
 * the one that was read, and changed values are read again in the next pass. It can be stopped at any time, and continues
 * when it is run again.
 */
import type { SealedTable, SealedValue } from '../../storage/tables/sealed-values.ts';
import type { Storage } from '../../storage/storage.ts';
import { contextOf } from './contexts.ts';
import { forgetUnusedKeys } from './key-proofs.ts';
import { prefixOf, sealedWith, SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import { underLock } from '../connection-key.ts';

interface ResealReport {
  tables: TableReport[];
  /** Turns that have not ended, whose histories at Temporal may hold values under an older key. */
  turns: number;
  /** Keys of the ring that nothing is sealed with. */
  unused: string[];
  wasStopped: boolean;
}

/** Counts by the key that the values are or were sealed with. */
interface TableReport {
  table: SealedTable;
  /** Resealed; in a dry run, those that would be. */
  resealed: Map<string, number>;
  /** Sealed with the newest key now. */
  newest: number;
  /** Can be opened, but are still under an older key: a process still seals with it, or holds them. */
  remaining: Map<string, number>;
  /** Cannot be opened: the key is missing, or the value is damaged. */
  unreadable: Map<string, number>;
}

export interface ResealOptions {
  storage: Pick<Storage, 'sealed' | 'connections' | 'keyProofs'>;
  keys: KeyRing;
  /** Only counts. Default false. */
  dryRun?: boolean;
  signal?: AbortSignal;
  /** Called after every batch. `of`: the number at the beginning. */
  onProgress?: (progress: { table: SealedTable; done: number; of: number }) => void;
  batchSize?: number;
  /** How long to wait for a connection that is being renewed, before it is left to the next pass. Default 20 s. */
  lockWaitMs?: number;
}

interface Change {
  value: SealedValue;
  keyId: string;
  sealed: string;
}

/** A limit, because other processes may keep sealing with an older key. */
const writingPasses = 4;

export async function reseal(options: ResealOptions): Promise<ResealReport> {
  const { storage, keys, dryRun = false, signal } = options;
  const tables: TableReport[] = [];
  for (const table of storage.sealed.tables) tables.push(await resealTable(table, options));
  if (signal?.aborted) return { tables, turns: 0, unused: [], wasStopped: true };
  const [, ...older] = keys.ids;
  const turns = older.length === 0 ? 0 : await turnsOfOlderKeys(storage, keys);
  const isNeeded = async (keyId: string) => turns > 0 || (await isUsed(storage, keyId));
  const unused: string[] = [];
  // Counted at the end, because the first tables may have changed since.
  for (const keyId of older) if (!(await isNeeded(keyId))) unused.push(keyId);
  if (!dryRun) await forgetUnusedKeys(storage, keys, isNeeded);
  return { tables, turns, unused, wasStopped: false };
}

/** Processes are replaced one after another, and those before the last still seal with the older key. */
const rolloutMs = 60 * 60_000;

/** What is at Temporal cannot be sealed again. */
async function turnsOfOlderKeys(
  { keyProofs }: Pick<Storage, 'keyProofs'>,
  { ids: [newest] }: KeyRing,
): Promise<number> {
  const proof = (await keyProofs.all()).find(({ keyId }) => keyId === newest);
  return keyProofs.turnsThatHold(proof ? proof.createdAt + rolloutMs : Number.MAX_SAFE_INTEGER);
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
  // An aborted pass has no complete count.
  return { table, resealed, newest, remaining: signal?.aborted ? new Map() : readable, unreadable };
}

/** One pass over a table. Resealed values are counted in `resealed`; null: only count. */
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

/** Null when it cannot be opened. */
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
    // Under the lock: a renewal only overwrites the value that it has read, so its new tokens would be lost.
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

interface Run {
  keys: Pick<KeyRing, 'ids'>;
  dryRun: boolean;
}

/** Whether everything could be opened, and the older keys are no longer needed. */
export function isDone({ tables, unused, wasStopped }: ResealReport, { keys, dryRun }: Run): boolean {
  const opens = tables.every(({ unreadable }) => unreadable.size === 0);
  return !wasStopped && opens && (dryRun || unused.length === keys.ids.length - 1);
}

export function describeReseal(
  { tables, turns, unused, wasStopped }: ResealReport,
  { keys, dryRun }: Run,
): string {
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
  if (turns > 0)
    lines.push(
      `${turns} ${turns === 1 ? 'turn has' : 'turns have'} begun before all processes used ${named(newest)}, and Temporal keeps values of ${turns === 1 ? 'it' : 'them'} under an older key. Run it again when ${turns === 1 ? 'it has' : 'they have'} ended.`,
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
