/** A deployment whose database and Temporal are stopped, copied and restored, and what its operator does about it. */
import { pino } from 'pino';
import { vi } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { openInstallation } from '../../../src/platform/installation/installation.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { startCommand } from '../../cli/start-command.ts';
import { envOf, startDesks, urlsOf } from '../../e2e/bookings.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { say } from '../../e2e/watch.ts';
import { createOwnDeployment } from '../../operations/outages.ts';
import { kinds } from '../../servers/booking-server.ts';
import { query } from '../../setup/postgres-server.ts';

/** What processes log that wait for an operator. */
export const notTogether = /do not belong together.*interlude installation adopt/s;

const logger = pino({ level: 'silent' });

interface Options {
  /** A URL of PostgreSQL. */
  database: string;
  env?: Record<string, string>;
}

export type Site = Awaited<ReturnType<typeof startSite>>;

/** Booking servers, a Temporal of its own, a worker and an API. Alice has talked to it: tools are known. */
export async function startSite({ database, env = {} }: Options) {
  const desks = await startDesks();
  const { deployment, temporal } = await createOwnDeployment({
    ...envOf(urlsOf(desks)),
    DATABASE_URL: database,
    ...env,
  });
  deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));

  const site = {
    desks,
    deployment,
    alice: deployment.client('alice'),
    processes: [] as ServiceProcess[],
    temporalFolder: temporal.dataDir,
    stopTemporal: () => temporal.stop(),
    startTemporal: () => temporal.start(),
    async startProcesses() {
      site.processes = await Promise.all([deployment.start('worker'), deployment.start('server')]);
    },
    async stopProcesses() {
      await Promise.all(site.processes.map((each) => each.kill('SIGTERM')));
    },
    /** Processes that wait for an operator are never ready. */
    async startWaiting() {
      site.processes = [deployment.spawn('worker'), deployment.spawn('server')];
      await vi.waitFor(async () => {
        for (const each of site.processes)
          if (!notTogether.test(each.output())) throw new Error('It does not wait for an operator yet.');
        await fetch(`${deployment.baseUrl}/healthz`);
      }, 30_000);
    },
    command: (...words: string[]) => startCommand(['installation', ...words], deployment.environment),
    /** Writes generations as the leaseholder does, without its pauses. */
    async advance(times: number) {
      await dueIn(deployment.environment['DATABASE_URL'] ?? '', 0);
      const config = loadConfig(deployment.environment, deployment.dataDir);
      const storage = await openStorage(config.database);
      const installation = openInstallation({ config, storage, logger });
      const generation = async () => (await storage.installation.read())?.generation ?? 0;
      for (let count = 0; count < times; count++) {
        const before = await generation();
        await vi.waitFor(async () => {
          await installation.advance(0);
          // The leaseholder may write one in the same moment.
          if ((await generation()) <= before) throw new Error('It was not written.');
        }, 20_000);
      }
      await installation.close();
      await storage.close();
    },
  };
  try {
    await site.startProcesses();
    await say(site.alice, 'hello').end();
    return site;
  } catch (error) {
    process.stderr.write(`${deployment.output()}\n`);
    await deployment.stop();
    throw error;
  }
}

/** When the database's next generation is due, which shows how old the last one is. */
export async function dueIn(url: string, ms: number): Promise<void> {
  await query(url, 'update installation set due_at = $1', [Date.now() + ms]);
}
