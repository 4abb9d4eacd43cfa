/** Temporal, and whether it belongs to the database. Nothing is written. */
import type { ConnectionLike } from '@temporalio/client';
import type { Config } from '../../platform/config/config.ts';
import { explain } from '../../platform/installation/belonging.ts';
import type { OpenedInstallation } from '../../platform/installation/installation.ts';
import { NoSchedules } from '../../platform/installation/mark.ts';
import { missingAttributes, namespaceProblem } from '../../platform/temporal/namespace.ts';
import { temporalLack } from '../../service/readiness.ts';
import { createTemporalReadiness } from '../../service/temporal-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import { turnWorkflowId } from '../../workflows/messages.ts';
import { clockFinding } from './check-database.ts';
import { ok, problem, problemOf } from './findings.ts';
import type { Finding } from './findings.ts';

/** Older servers do not know worker deployments as we use them. */
const oldest = { major: 1, minor: 28 };

/** `isEmbedded`: `interlude start` starts it. */
export async function checkTemporal(
  { temporal }: Pick<Config, 'temporal'>,
  connection: ConnectionLike,
  isEmbedded: boolean,
): Promise<Finding[]> {
  const { namespace } = temporal;
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
    const isOld = major < oldest.major || (major === oldest.major && minor < oldest.minor);
    const findings = [
      isOld
        ? problem(
            'temporal-too-old',
            `it is version ${serverVersion}; this release needs ${oldest.major}.${oldest.minor} or newer`,
          )
        : ok(`version ${serverVersion}`),
    ];
    const lack = await namespaceProblem(connection, namespace);
    if (lack !== null) return [...findings, problemOf('temporal-namespace', lack)];
    const missing = (await missingAttributes(connection, namespace)) ?? [];
    return [
      ...findings,
      missing.length > 0
        ? problem(
            'temporal-attributes',
            `namespace ${namespace} lacks search attributes: ${missing.join(', ')}`,
          )
        : ok(`namespace ${namespace} has the search attributes`),
    ];
  } catch (error) {
    if (isEmbedded) return [ok('the development server does not run; the start brings it along')];
    return [problemOf('temporal-away', temporalLack(error))];
  }
}

export async function checkInstallation({
  examine,
}: Pick<OpenedInstallation, 'examine'>): Promise<Finding[]> {
  try {
    const { belonging, found } = await examine();
    if (belonging.kind === 'apart') return [problem('installation-apart', explain(belonging.reason))];
    return [
      ok(found ? 'the database belongs to it' : 'no mark yet; the first process that starts writes it'),
    ];
  } catch (error) {
    if (error instanceof NoSchedules)
      return [
        problem(
          'installation-unknown',
          'it has no schedules, so it cannot be checked that the database belongs to it',
        ),
      ];
    // Temporal's own check says that it is away.
    return [];
  }
}

/** Whether new turns find a worker. */
export async function checkWorkers(
  { temporal }: Pick<Config, 'temporal'>,
  { client }: Pick<OpenedInstallation, 'client'>,
  storage: Storage,
): Promise<Finding[]> {
  const lack = await createTemporalReadiness(client, temporal, storage).workers();
  return lack === null ? [] : [problemOf('workers', lack)];
}

const recentMs = 3_600_000;
const turnsToCompare = 5;

/**
 * No call returns Temporal's time, so the starts of the latest turns are compared with their rows. A start may be late, so
 * the smallest difference counts.
 */
export async function checkTemporalClock(
  { client, table }: Pick<OpenedInstallation, 'client' | 'table'>,
  storage: Storage,
): Promise<Finding[]> {
  const turns = (await table.latestTurns(turnsToCompare)).filter(
    ({ createdAt }) => createdAt > storage.now() - recentMs,
  );
  const delays = await Promise.all(
    turns.map(async (turn) => {
      const { startTime } = await client.workflow.getHandle(turnWorkflowId(turn)).describe();
      return startTime.getTime() - turn.createdAt;
    }),
  ).catch(() => []);
  if (delays.length === 0) return [];
  return clockFinding('Temporal', (storage.clockAheadMs() ?? 0) - Math.min(...delays));
}
