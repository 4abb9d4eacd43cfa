/** Everything that `interlude doctor` checks. Nothing is changed. */
import { pino } from 'pino';
import type { Config } from '../../platform/config/config.ts';
import type { ProcessKind } from '../../platform/config/environment.ts';
import { openInstallation } from '../../platform/installation/installation.ts';
import type { OpenedInstallation } from '../../platform/installation/installation.ts';
import type { Storage } from '../../storage/storage.ts';
import { examineAgentBundles } from '../../platform/tool-bundles/open-agent-bundles.ts';
import { connectLazily, withAddress } from '../../platform/temporal/connection.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { examineAgents } from '../agents/check-agents.ts';
import { checkDatabase, checkKeys, clockFinding, openDatabase } from './check-database.ts';
import { agentFindings, checkAddress, checkDisks, checkIssuer, readSettings } from './check-surroundings.ts';
import { checkNango, checkSlack } from './check-secrets.ts';
import { checkInstallation, checkTemporal, checkTemporalClock, checkWorkers } from './check-temporal.ts';
import { checkVersions } from './check-versions.ts';
import type { Deploy } from './check-versions.ts';
import { problem, reasonOf } from './findings.ts';
import type { Finding } from './findings.ts';

export interface Area {
  name: string;
  findings: Finding[];
}

export interface Diagnosis {
  areas: Area[];
  /** Null: unknown, because settings are wrong or the database does not answer. */
  deploy: Deploy | null;
  errors: number;
  warnings: number;
}

interface Options {
  env: NodeJS.ProcessEnv;
  cwd: string;
  kind: ProcessKind;
  /** For each server of the agents file. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called for each area as soon as it and those before it are done. */
  onArea?: (area: Area) => void;
}

const checkTimeoutMs = 20_000;

export async function diagnose({ env, cwd, kind, timeoutMs, signal, onArea }: Options): Promise<Diagnosis> {
  const { config, findings } = readSettings(env, cwd, kind);
  await using stack = new AsyncDisposableStack();
  let deploy: Deploy | null = null;
  const pending: [string, Promise<Finding[]>][] = [['settings', Promise.resolve(findings)]];
  if (config) {
    const tools = examineAgentBundles(config);
    // After them, because they block this process. Each server has its own time limit.
    const examining = tools
      .then((opened) => examineAgents(config, { timeout: timeoutMs }, { env, signal }, opened))
      .then(agentFindings)
      .catch(notChecked);
    const usable = tools.then(
      ({ bundles, problems }) => (problems.length > 0 ? null : bundles),
      () => null,
    );
    const isEmbedded = config.temporal.address === undefined;
    const opened = await openDatabase(config);
    const parts = opened.storage && open(config, opened.storage, stack);
    const add = (name: string, ...checks: Promise<Finding[]>[]) =>
      pending.push([name, Promise.all(checks.map(safely)).then((found) => found.flat())]);
    if (parts) {
      const { storage, installation } = parts;
      add('database', checkDatabase(storage));
      add('keys', checkKeys(storage, config));
      add(
        'clocks',
        Promise.resolve(clockFinding('the database', storage.clockAheadMs())),
        checkTemporalClock(installation, storage),
      );
      add(
        'Temporal',
        checkTemporal(config, installation.client.connection, isEmbedded),
        checkInstallation(installation),
        checkWorkers(config, installation, storage),
      );
      add(
        'versions',
        withTimeout(usable, checkTimeoutMs / 2, null)
          .then((bundles) => checkVersions(config, storage, installation, bundles))
          .then((checked) => {
            ({ deploy } = checked);
            return checked.findings;
          }),
      );
    } else if (opened.storage === null) {
      add('database', Promise.resolve([opened.finding]));
      const { connection, close } = connectLazily(withAddress(config.temporal), {
        interceptors: [],
        connectTimeout: 5_000,
      });
      stack.defer(close);
      add('Temporal', checkTemporal(config, connection, isEmbedded));
    }
    add('sign-in', checkIssuer(config, kind));
    add('Slack', checkSlack(config, opened.storage));
    add('Nango', checkNango(config));
    pending.push(['agents', examining]);
    add('address', checkAddress(config));
    add('disks', checkDisks(config));
  }
  const areas: Area[] = [];
  for (const [name, found] of pending) {
    const area = { name, findings: await found };
    areas.push(area);
    onArea?.(area);
  }
  const count = (level: Finding['level']) =>
    areas.flatMap((area) => area.findings).filter((finding) => finding.level === level).length;
  return { areas, deploy, errors: count('error'), warnings: count('warning') };
}

function open(
  config: Config,
  storage: Storage,
  stack: AsyncDisposableStack,
): { storage: Storage; installation: OpenedInstallation } {
  stack.defer(() => storage.close());
  const installation = openInstallation({
    config: { temporal: withAddress(config.temporal) },
    storage,
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => installation.close());
  return { storage, installation };
}

function safely(check: Promise<Finding[]>): Promise<Finding[]> {
  const late = [problem('not-checked', `no answer within ${checkTimeoutMs / 1000} s`)];
  return withTimeout(check, checkTimeoutMs, late).catch(notChecked);
}

function notChecked(error: unknown): Finding[] {
  return [problem('not-checked', reasonOf(error))];
}
