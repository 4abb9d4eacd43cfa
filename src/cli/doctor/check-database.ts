/** The database, the keys for what it contains, and its clock. Nothing is changed: the schema stays as it is. */
import type { Config } from '../../platform/config/config.ts';
import { toleratedMs } from '../../platform/clock-difference.ts';
import { openKeys } from '../../credentials/sealing/key-file.ts';
import { lackOfKeys } from '../../credentials/sealing/key-proofs.ts';
import { NoDatabase, openStorage } from '../../storage/open-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import { counted } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { inTime } from '../../turn/timeline/words.ts';
import { ok, problem, problemOf, reasonOf } from './findings.ts';
import type { Finding } from './findings.ts';

export type Opened = { storage: Storage } | { storage: null; finding: Finding };

export async function openDatabase({ database }: Pick<Config, 'database'>): Promise<Opened> {
  try {
    return { storage: await openStorage(database, { isThere: true, isInspected: true }) };
  } catch (error) {
    const finding =
      error instanceof NoDatabase
        ? ok('empty; the first process that starts creates the tables')
        : problem('database-away', reasonOf(error));
    return { storage: null, finding };
  }
}

export async function checkDatabase(storage: Storage): Promise<Finding[]> {
  const { version, bytes, isReadOnly, isFull, isPooled, connections, holders, migrations } =
    await storage.state();
  const { pending, unknown, isTooOld } = migrations;
  const findings = [ok(`${version}, ${inMegabytes(bytes)}`)];
  if (isReadOnly) findings.push(problem('database-read-only', 'it is read-only, like a standby'));
  if (isFull) findings.push(problem('database-full', 'its disk is full'));
  if (isPooled)
    findings.push(
      problem('database-pooler', 'a connection pooler answers, which notifications may not pass'),
    );
  if (isTooOld) findings.push(problem('database-too-old', 'its schema is too old for this release'));
  else if (pending.length > 0)
    findings.push(ok(`${counted(pending.length, 'migration')} to run: ${pending.join(', ')}`));
  else findings.push(ok('its schema is up to date'));
  if (unknown.length > 0)
    findings.push(problem('database-newer', `it has migrations of a later release: ${unknown.join(', ')}`));
  if (connections && connections.used > 0.8 * connections.most)
    findings.push(
      problem('database-connections', `${connections.used} of ${connections.most} connections are in use`),
    );
  for (const { pid, program, state, forMs, waiting } of holders)
    findings.push(
      problem(
        'database-locks',
        `a transaction of ${program || 'a program'} (${state}) has had locks for ${inTime(forMs)}${waiting > 0 ? `, and ${waiting === 1 ? '1 session waits' : `${waiting} sessions wait`} for it` : ''}`,
        `end it, so that no migration waits for it: select pg_terminate_backend(${pid})`,
      ),
    );
  return findings;
}

export async function checkKeys(storage: Storage, config: Config): Promise<Finding[]> {
  const keys = await openKeys(config, { areThere: true });
  const lack = await lackOfKeys(storage, keys);
  return [
    lack === null
      ? ok(`${counted(keys.ids.length, 'key')}: ${keys.ids.join(', ')}`)
      : problemOf('keys-wrong', lack),
  ];
}

/** `aheadMs`: positive if this machine's clock is ahead; null: unknown. */
export function clockFinding(other: string, aheadMs: number | null): Finding[] {
  if (aheadMs === null) return [];
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return [
    seconds * 1000 > toleratedMs
      ? problem('clock-differs', `the clock of this machine is ${seconds} s ${direction} that of ${other}`)
      : ok(`agrees with ${other}`),
  ];
}

export function inMegabytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [bytes / 1e9, 'GB'] : [bytes / 1e6, 'MB'];
  return `${size >= 10 ? Math.round(size) : size.toFixed(1)} ${unit}`;
}
