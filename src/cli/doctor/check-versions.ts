/** Versions of the workflow code, what waits with each, and what a deploy of this release would affect now. */
import { pino } from 'pino';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Config } from '../../platform/config/config.ts';
import {
  checkContracts,
  ownContracts,
  startedOnly,
  unableToRun,
  UnsupportedVersions,
} from '../../platform/processes/versions.ts';
import { readTurnCode } from '../../platform/processes/workers/turn-code.ts';
import { polledBuildIds } from '../../platform/temporal/deployment.ts';
import type { OpenedTools } from '../../platform/tool-bundles/open-agent-bundles.ts';
import { openToolCalls } from '../../workflows/messages.ts';
import type { OpenedInstallation } from '../../platform/installation/installation.ts';
import { routedByTemporal } from '../../storage/tables/versions.ts';
import type { Storage } from '../../storage/storage.ts';
import { inTime } from '../../turn/timeline/words.ts';
import { counted } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { ok, problem } from './findings.ts';
import type { Finding } from './findings.ts';

interface WaitingVersion {
  /** Null: a release without versions. */
  buildId: string | null;
  isCurrent: boolean;
  /** Turns that have not ended: those that wait for a person, and those that work. */
  waiting: number;
  working: number;
  /** When the oldest open question was asked, in epoch milliseconds; null: no question is open. */
  waitingSince: number | null;
  isKept: boolean;
  /** Null: Temporal does not answer. */
  isPolled: boolean | null;
}

export interface Deploy {
  /** `needs`: the contract of its workflow code. */
  release: { version: string; buildId: string; needs: number };
  /** What new turns start with now; empty: Temporal decides; null: no worker has started yet. */
  current: string | null;
  /** Versions of running workers that are not current yet, and were never. */
  starting: string[];
  versions: WaitingVersion[];
  /** A process of `interlude start` is in both. */
  processes: { api: number; worker: number };
  migrations: string[];
  /** The same in sentences. */
  effects: string[];
}

export async function checkVersions(
  config: Config,
  storage: Storage,
  { client }: Pick<OpenedInstallation, 'client'>,
  bundles: ReadonlyMap<string, OpenedTools> | null,
): Promise<{ findings: Finding[]; deploy: Deploy }> {
  const { deployment } = config.temporal;
  const [own, deployed, starting, kept, open, waiting, living, polled, { migrations }, ofTools] =
    await Promise.all([
      readTurnCode(deployment),
      storage.versions.list(deployment.name),
      storage.versions.starting(deployment.name),
      storage.workflowCode.list('turns'),
      storage.versions.openTurns(),
      storage.versions.waitingTurns(),
      storage.versions.living(deployment.name),
      polledBuildIds(client.connection, config.temporal, storage.now()).catch(() => null),
      storage.state(),
      toolEffects(config, storage, client, bundles),
    ]);
  const current = deployed[0]?.buildId ?? null;
  const versions = open.map(({ buildId, turns }): WaitingVersion => {
    const asked = waiting.find((one) => one.buildId === buildId);
    return {
      buildId,
      isCurrent: buildId === current,
      waiting: asked?.turns ?? 0,
      working: turns - (asked?.turns ?? 0),
      waitingSince: asked?.since ?? null,
      isKept: buildId === own.buildId || kept.some(({ id }) => id === buildId),
      isPolled: polled?.has(buildId) ?? null,
    };
  });
  const count = (kind: 'api' | 'worker') =>
    living.filter((process) => process.kind === kind || process.kind === 'start').length;
  const deploy: Omit<Deploy, 'effects'> = {
    release: { version: packageJson.version, buildId: own.buildId, needs: own.needs },
    current,
    starting,
    versions,
    processes: { api: count('api'), worker: count('worker') },
    migrations: migrations.pending,
  };
  const unable = unableToRun(own.needs, living).length;
  return {
    findings: [...(await contractFindings(config, storage)), ...versions.flatMap(turnFindings)],
    deploy: {
      ...deploy,
      effects: [
        becomesCurrent(deploy, { isKnown: deployed.some(({ buildId }) => buildId === own.buildId), config }),
        ...starting.map((buildId) => `Version ${buildId} ${startedOnly}`),
        ...(unable > 0
          ? [
              `${counted(unable, 'running process')} cannot run it: it becomes current when they have stopped.`,
            ]
          : []),
        ...versions.map((version) => goesOn(version, storage.now())),
        ...(versions.length > 0 ? ['Turns that have begun go on with their version.'] : []),
        ...ofTools,
        ...whatStops(deploy, config),
        ...(migrations.pending.length > 0
          ? [`The first process that starts runs ${counted(migrations.pending.length, 'migration')}.`]
          : []),
      ],
    },
  };
}

async function contractFindings(config: Config, storage: Storage): Promise<Finding[]> {
  try {
    await checkContracts({ config, storage, logger: pino({ level: 'silent' }) });
    return [ok(`this release runs every version that is kept (${ownContracts()})`)];
  } catch (error) {
    if (!(error instanceof UnsupportedVersions)) throw error;
    return [problem('turns-of-another-contract', error.message)];
  }
}

function turnFindings({ buildId, waiting, working, isKept, isPolled }: WaitingVersion): Finding[] {
  const turns = waiting + working;
  const those = `${turns} ${turns === 1 ? 'turn goes' : 'turns go'} on with version ${buildId}`;
  if (buildId === null)
    return [problem('turns-without-version', `${counted(turns, 'turn')} of a release without versions`)];
  if (buildId === routedByTemporal) return [];
  if (!isKept && isPolled !== true)
    return [problem('turns-without-code', `${those}, whose code is not kept, and no worker polls for it`)];
  if (isPolled === false) return [problem('turns-without-worker', `${those}, and no worker polls for it`)];
  return [];
}

function becomesCurrent(
  { release: { buildId }, current }: Pick<Deploy, 'release' | 'current'>,
  { isKnown, config }: { isKnown: boolean; config: Config },
): string {
  if (config.temporal.deployment.buildId !== undefined)
    return `This is version ${buildId}; Temporal decides when new turns start with it.`;
  if (current === null) return `New turns start with version ${buildId}; no version was deployed before.`;
  if (current === buildId) return `New turns start with version ${buildId}, as now.`;
  if (isKnown)
    return `New turns start with version ${current}, as now: ${buildId} was current before. To start them with it: interlude versions use ${buildId}`;
  const now = current === routedByTemporal ? 'the version that Temporal chooses' : current;
  return `New turns start with version ${buildId} once one of its workers polls; now with ${now}.`;
}

function goesOn({ buildId, waiting, working, waitingSince }: WaitingVersion, now: number): string {
  const since = waitingSince === null ? '' : `, the first for ${inTime(now - waitingSince)}`;
  const parts = [
    waiting > 0 && `${waiting} ${waiting === 1 ? 'turn waits' : 'turns wait'} for people${since}`,
    working > 0 && `${working} ${working === 1 ? 'turn works' : 'turns work'}`,
  ].filter(Boolean);
  return `With version ${buildId || '(of Temporal)'}: ${parts.join('; ')}.`;
}

/** `bundles`: the code of tools that a deploy brings, by agent; null: unknown. */
async function toolEffects(
  { temporal: { taskQueue } }: Config,
  storage: Storage,
  client: OpenedInstallation['client'],
  bundles: ReadonlyMap<string, OpenedTools> | null,
): Promise<string[]> {
  if (bundles === null) return [];
  const [kept, inUse] = await Promise.all([
    storage.workflowCode.list('tools'),
    storage.toolCalls.codeInUse(),
  ]);
  const known = new Set([...kept.map(({ id }) => id), ...inUse.keys()]);
  const hashes = new Set([...bundles.values()].map(({ bundle }) => bundle.hash));
  const changed = [...bundles].flatMap(([agent, { bundle }]) => (known.has(bundle.hash) ? [] : agent));
  const counts = await Promise.all(
    [...known].map(async (hash) => {
      if (hashes.has(hash)) return 0;
      // While Temporal does not answer, its own check says so.
      const { count } = await client.workflow
        .count(openToolCalls(taskQueue, hash))
        .catch(() => ({ count: 0 }));
      return count + (inUse.get(hash) ?? 0);
    }),
  );
  const calls = counts.reduce((sum, count) => sum + count, 0);
  return [
    ...(known.size > 0 && changed.length > 0
      ? [`The tool code of ${changed.join(', ')} has changed: new calls run it.`]
      : []),
    ...(calls > 0 ? [`Calls that go on with the tool code that they began with: ${calls}.`] : []),
  ];
}

function whatStops(
  { versions, processes: { api, worker } }: Pick<Deploy, 'versions' | 'processes'>,
  config: Config,
): string[] {
  if (api + worker === 0) return ['No process is running.'];
  const working = versions.reduce((sum, version) => sum + version.working, 0);
  const calls = working > 0 ? ` Calls of working turns have ${inTime(config.shutdownGraceMs)} to end.` : '';
  return [`Processes that run now: ${api} API, ${worker} worker. Streams reconnect.${calls}`];
}
