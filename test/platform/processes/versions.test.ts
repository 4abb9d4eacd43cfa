/** Releases whose contracts differ: which version becomes current when, and which release refuses to start. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ConnectionLike } from '@temporalio/client';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import {
  becomeCurrent,
  checkContracts,
  rollBack,
  useVersion,
} from '../../../src/platform/processes/versions.ts';
import type { VersionLack } from '../../../src/platform/processes/versions.ts';
import { grpcStatus } from '../../../src/platform/temporal/grpc-status.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { contract } from '../../../src/workflows/contract.ts';
import { newTurn, refuseWhileBusy } from '../../storage/contract/fixtures.ts';

const deployment = 'interlude';
const config = loadConfig({}, process.cwd());
const logger = pino({ level: 'silent' });
const newer = contract.newest + 1;
/** Temporal has seen a poll of every version. */
const connection = {
  workflowService: { describeWorkerDeploymentVersion: async () => ({}) },
} as unknown as ConnectionLike;
let storage: Storage;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-versions-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true });
});

const keep = (id: string, needs: number) =>
  storage.workflowCode.keep({ id, kind: 'turns', needs, sealed: 'code' });
async function waitingTurn(buildId: string) {
  await storage.versions.use(deployment, buildId);
  await storage.turns.prepare(newTurn(), refuseWhileBusy, deployment);
}
const alive = (kind: 'api' | 'worker', newest: number, buildId: string | null = null) => {
  const process = { id: randomUUID(), deployment, kind, oldest: 1, newest, buildId };
  return storage.versions.renewLease(process, 60_000).then(() => process);
};

test('a version that needs more than running processes offer becomes current once the last of them has gone', async () => {
  await storage.versions.advance(deployment, 'one');
  const older = await alive('api', contract.newest);
  const own = { buildId: 'two', code: '', needs: newer };
  const stop = new AbortController();
  const lines: string[] = [];
  const lacks: (VersionLack | null)[] = [];
  const telling = pino({}, { write: (line) => void lines.push(line) });
  const advancing = becomeCurrent(
    { config, storage, logger: telling },
    { connection, own, isAlone: false, onLack: (lack) => lacks.push(lack) },
    stop.signal,
  );
  await expect.poll(() => lines.join()).toContain(`do not offer contract ${newer}`);
  // A rolling update stops the older process only once this one is ready.
  expect(lacks).toContainEqual(expect.objectContaining({ isOfOthers: true }));
  expect(await storage.versions.current(deployment)).toBe('one');
  await storage.versions.endLease(older.id);
  await advancing;
  expect(await storage.versions.current(deployment)).toBe('two');
  expect(lacks.at(-1)).toBeNull();
});

test('a version that cannot become current says so, until it can', async () => {
  let isRefused = true;
  const describeWorkerDeploymentVersion = async () => {
    if (isRefused) throw Object.assign(new Error('no'), { code: grpcStatus.permissionDenied });
    return {};
  };
  const refusing = { workflowService: { describeWorkerDeploymentVersion } } as unknown as ConnectionLike;
  const own = { buildId: 'one', code: '', needs: contract.needs };
  const details: (string | undefined)[] = [];
  await becomeCurrent(
    { config, storage, logger },
    {
      connection: refusing,
      own,
      isAlone: false,
      onLack(lack) {
        details.push(lack?.detail);
        isRefused = false;
      },
    },
    new AbortController().signal,
  );
  expect(details).toEqual([expect.stringContaining('its log says why'), undefined]);
});

test('a rollback is refused while a version that has started is not current yet, because it would become current afterwards', async () => {
  await expect(rollBack(storage, deployment)).rejects.toThrow('There is no version to go back to');
  for (const version of ['one', 'two']) {
    await keep(version, 1);
    await storage.versions.advance(deployment, version);
  }
  await alive('worker', contract.newest, 'two');
  await alive('worker', contract.newest, 'three');
  await expect(rollBack(storage, deployment)).rejects.toThrow(
    'Version three has started and is not current yet; new turns start with version two.',
  );
  await keep('three', 1);
  await storage.versions.advance(deployment, 'three');
  expect(await rollBack(storage, deployment)).toEqual({ from: 'three', to: 'two' });
  expect(await storage.versions.current(deployment)).toBe('two');
  // The second time it goes further back, and not to the version that was left.
  expect(await rollBack(storage, deployment)).toEqual({ from: 'two', to: 'one' });
  await expect(rollBack(storage, deployment)).rejects.toThrow('There is no version to go back to');
});

test('a version whose workers stopped before it was current is no reason to refuse a rollback', async () => {
  for (const version of ['one', 'two']) {
    await keep(version, 1);
    await storage.versions.advance(deployment, version);
  }
  const broken = await alive('worker', contract.newest, 'three');
  await keep('three', 1);
  await storage.versions.endLease(broken.id);
  expect(await rollBack(storage, deployment)).toEqual({ from: 'two', to: 'one' });
});

test('a release refuses to start while turns wait that only a later release can run, and names them', async () => {
  await keep('later', newer);
  await checkContracts({ config, storage, logger });
  await waitingTurn('later');
  await expect(checkContracts({ config, storage, logger })).rejects.toThrow(
    `1 turn waits with version later, which needs contract ${newer}`,
  );
  // A worker of the later release runs them.
  await alive('worker', newer);
  await checkContracts({ config, storage, logger });
});

test('going back to a version is refused where its code is not kept, or running processes do not offer what it needs', async () => {
  await expect(useVersion(storage, deployment, 'unknown')).rejects.toThrow(
    'There is no code of version unknown',
  );
  await keep('later', newer);
  await alive('worker', contract.newest);
  await expect(useVersion(storage, deployment, 'later')).rejects.toThrow(
    'Deploy the release of that version first',
  );
  await keep('one', 1);
  await useVersion(storage, deployment, 'one');
  expect(await storage.versions.current(deployment)).toBe('one');
});
