/**
 * The version of the workflow code for new turns: a row in the database. A worker makes its own version current, once,
 * when it polls. An operator can go back (`interlude versions use`), and a restart of the newer release does not undo
 * that.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import { routedByTemporal } from '../../storage/tables/versions.ts';
import type { LivingProcess } from '../../storage/tables/versions.ts';
import type { Storage } from '../../storage/storage.ts';
import { isKnown } from '../temporal/deployment.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { contract, isOffered } from '../../workflows/contract.ts';
import type { Dependencies } from './dependencies.ts';
import type { TurnCode } from './workers/turn-code.ts';

const lease = { renewedEveryMs: 5_000, ms: 20_000 };
const tryAgainMs = 1_000;
/** How long it usually takes at most until Temporal has seen a worker. */
const usualStartMs = 15_000;

type Parts = Pick<Dependencies, 'config' | 'storage' | 'logger'>;

/** Registers this process as alive, with the contracts that it offers, until the stack is disposed. */
export async function holdLease(
  { config, storage, logger }: Parts,
  { kind, buildId }: Pick<LivingProcess, 'kind'> & { buildId: string | null },
  stack: AsyncDisposableStack,
): Promise<void> {
  const deployment = config.temporal.deployment.name;
  const { oldest, newest } = contract;
  const process = { id: randomUUID(), deployment, kind, oldest, newest, buildId };
  const renew = () => storage.versions.renewLease(process, lease.ms);
  await renew();
  const loop = startLeasedLoop(
    {
      name: 'lease of this process',
      everyMs: lease.renewedEveryMs,
      atOnce: 1,
      claim: () => renew().then(() => []),
      work: () => Promise.resolve(),
    },
    logger,
  );
  stack.defer(async () => {
    await loop.stop();
    await storage.versions.endLease(process.id).catch(() => undefined);
  });
}

/**
 * Refuses to start if waiting turns can neither run in this release nor in another process: after a rollback past a
 * version that needs more, or a jump over the release that still offered what old turns need.
 */
export async function checkContracts({ config, storage }: Parts): Promise<void> {
  const [kept, open, living] = await Promise.all([
    storage.workflowCode.list('turns'),
    storage.versions.openTurns(),
    storage.versions.living(config.temporal.deployment.name),
  ]);
  const problems = kept.flatMap(({ id, needs }) => {
    const turns = open.find(({ buildId }) => buildId === id)?.turns ?? 0;
    if (turns === 0 || isOffered(needs, contract)) return [];
    if (living.some((process) => process.kind === 'worker' && isOffered(needs, process))) return [];
    return `${turns} ${turns === 1 ? 'turn waits' : 'turns wait'} with version ${id}, which needs contract ${needs}`;
  });
  if (problems.length === 0) return;
  throw new UnsupportedVersions(
    `This release cannot run workflow code that turns wait with. It offers ${ownContracts()}; ${problems.join('; ')}. Run workers of the release that began them until these turns have ended, or cancel them.`,
  );
}

export function ownContracts(): string {
  const { oldest, newest } = contract;
  return oldest === newest ? `contract ${newest}` : `contracts ${oldest} to ${newest}`;
}

/** Those that cannot run workflow code with these needs. */
export function unableToRun(needs: number, processes: LivingProcess[]): LivingProcess[] {
  return processes.filter((process) => !isOffered(needs, process));
}

export class UnsupportedVersions extends Error {
  override name = 'UnsupportedVersions';
}

/** For an operator's command. Refuses a version whose code is not kept, or that a running process could not run. */
export async function useVersion(storage: Storage, deployment: string, buildId: string): Promise<void> {
  await checkUsable(storage, deployment, buildId);
  await storage.versions.use(deployment, buildId);
}

async function checkUsable(storage: Storage, deployment: string, buildId: string): Promise<void> {
  const kept = await storage.workflowCode.list('turns');
  const code = kept.find(({ id }) => id === buildId);
  if (!code) {
    const ids = kept.map(({ id }) => id).join(', ') || 'none';
    throw new UnsupportedVersions(
      `There is no code of version ${buildId} in the database. There is: ${ids}.`,
    );
  }
  const unable = unableToRun(code.needs, await storage.versions.living(deployment));
  if (unable.length > 0)
    throw new UnsupportedVersions(
      `Version ${buildId} needs contract ${code.needs}, which ${unable.length} of the running processes do not offer. Deploy the release of that version first.`,
    );
}

/**
 * For an operator's command: new turns start with the version that was current before; going back again goes further back.
 * Returns both build ids. Refuses while a version that has started is not current yet, because it would become current
 * afterwards.
 */
export async function rollBack(storage: Storage, deployment: string): Promise<{ from: string; to: string }> {
  for (;;) {
    const [[current, before], [coming]] = await Promise.all([
      storage.versions.list(deployment).then((all) => all.filter(({ isRolledBack }) => !isRolledBack)),
      storage.versions.starting(deployment),
    ]);
    if (current && coming !== undefined)
      throw new UnsupportedVersions(
        `Version ${coming} has started and is not current yet; new turns start with version ${current.buildId}. Wait until ${ourCommand('versions list')} shows it as current, or stop its workers to stay with ${current.buildId} or to go back from it; one that was killed counts for ${lease.ms / 1000} s.`,
      );
    if (!current || !before)
      throw new UnsupportedVersions(
        `There is no version to go back to; ${ourCommand('versions list')} shows them, and ${ourCommand('versions use <build-id>')} chooses one.`,
      );
    const [from, to] = [current.buildId, before.buildId];
    await checkUsable(storage, deployment, to);
    // Otherwise another version became current meanwhile.
    if (await storage.versions.goBack(deployment, from, to)) return { from, to };
  }
}

/** Of a version, for operators. */
export const startedOnly =
  'has started and is not current yet: it becomes current by itself, unless its workers stop.';

/** Why new turns do not start with the own version yet. */
export interface VersionLack {
  detail: string;
  /** Older processes have to stop first, and may do that only once this one is ready. */
  isOfOthers: boolean;
}

export const notSeenYet: VersionLack = {
  detail: 'Temporal has not seen a worker of this version yet, which takes some seconds after a start',
  isOfOthers: false,
};

const notReached: VersionLack = {
  detail: 'the version of this worker cannot become current yet; its log says why',
  isOfOthers: false,
};

interface Advance {
  connection: Pick<ConnectionLike, 'workflowService'>;
  own: TurnCode;
  /** There is no other worker, so any other version is that of an earlier checkout. */
  isAlone: boolean;
  /** Called with each lack, and with null when there is none any more. */
  onLack(lack: VersionLack | null): void;
}

/**
 * Makes the own version current once Temporal has seen its poll. Resolves when that is done, or when the signal aborts.
 */
export async function becomeCurrent(
  { config, storage, logger }: Parts,
  { connection, own, isAlone, onLack }: Advance,
  signal: AbortSignal,
): Promise<void> {
  const { deployment, namespace } = config.temporal;
  const version = { deploymentName: deployment.name, buildId: own.buildId };
  const isControlled = deployment.buildId !== undefined;
  const startedAt = performance.now();
  let waitsFor: string | undefined;
  while (!signal.aborted) {
    try {
      const lack = isControlled ? null : await whatIsMissing();
      if (lack === null) {
        await advance();
        return onLack(null);
      }
      onLack(lack);
      const isUsual = lack === notSeenYet && performance.now() - startedAt < usualStartMs;
      if (lack.detail !== waitsFor && !isUsual) {
        logger.info(`no turns start with version ${own.buildId} yet: ${lack.detail}`);
        waitsFor = lack.detail;
      }
    } catch (err) {
      onLack(notReached);
      logger.warn({ err }, 'the version of this worker cannot become current yet; trying again');
    }
    await sleep(tryAgainMs, undefined, { signal }).catch(() => undefined);
  }

  async function whatIsMissing(): Promise<VersionLack | null> {
    if (!(await isKnown(connection, namespace, version))) return notSeenYet;
    const older = unableToRun(own.needs, await storage.versions.living(deployment.name));
    if (older.length === 0) return null;
    const detail = `${older.length} running process(es) of an older release do not offer contract ${own.needs}`;
    return { detail, isOfOthers: true };
  }

  async function advance(): Promise<void> {
    const { versions } = storage;
    const current = await versions.current(deployment.name);
    const wanted = isControlled ? routedByTemporal : own.buildId;
    if (current === wanted) return;
    if (isControlled || isAlone) return versions.use(deployment.name, wanted);
    if (await versions.advance(deployment.name, wanted)) {
      logger.info({ before: current }, `new turns start with version ${wanted}`);
      return;
    }
    logger.warn(
      `new turns start with version ${current}, not with this worker's (${wanted}), which was current before; to change that: interlude versions use ${wanted}`,
    );
  }
}
