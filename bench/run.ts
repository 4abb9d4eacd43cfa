/**
 * Measures Interlude against what it stands on: `npm run bench`, `-- --quick` for a short run, `-- --postgres` to
 * repeat it on PostgreSQL (the server at DATABASE_URL, or one that is started for the run). TEMPORAL_ADDRESS takes the place
 * of the development server.
 *
 * Every number is a ratio to a floor measured in the same run, because times differ between machines and between runs. No
 * missed aim fails the run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { connectClient } from '../src/platform/temporal/connection.ts';
import { startTemporalServer } from '../src/platform/development/temporal-server.ts';
import { startPostgres } from '../test/setup/postgres-server.ts';
import { a2a } from './a2a.ts';
import { agUi } from './ag-ui.ts';
import { answering } from './answering.ts';
import { asking } from './asking.ts';
import { burst } from './burst.ts';
import { disk } from './disk.ts';
import { firstText } from './first-text.ts';
import { history } from './history.ts';
import { idleStreams } from './idle-streams.ts';
import { longTurns } from './long-turns.ts';
import { mcpServer } from './mcp-server.ts';
import { memory } from './memory.ts';
import { openQuestions } from './open-questions.ts';
import { slack } from './slack.ts';
import { start } from './start.ts';
import { startDoubles } from './doubles/start-doubles.ts';
import { readers } from './readers.ts';
import { print } from './report.ts';
import type { Section } from './report.ts';
import type { Dependencies } from './service.ts';
import { repeatsSoFar } from './send-until-taken.ts';
import { setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { streaming } from './streaming.ts';
import { throughput } from './throughput.ts';
import { telemetry } from './telemetry.ts';
import { tools } from './tools.ts';
import { tryStart } from './try-start.ts';
import { widget } from './widget.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: process.env['DATABASE_URL'] !== undefined },
    only: { type: 'string' },
  },
});
const samples = options.quick ? 15 : 60;
const only = options.only?.split(',');
const measurements: Record<string, (setup: BenchSetup) => Promise<Section>> = {
  start,
  firstText,
  a2a,
  agUi,
  answering,
  asking,
  tools,
  longTurns,
  mcpServer,
  slack,
  telemetry,
  history,
  disk,
  throughput,
  burst,
  streaming,
  readers,
  memory,
  openQuestions,
  idleStreams,
  tryStart,
  widget,
};

await using stack = new AsyncDisposableStack();
const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-bench-temporal-'));
stack.defer(() => rm(dataDir, { recursive: true, force: true }));
const logger = createLogger({ level: 'error', human: true });
const namespace = 'default';
const address = process.env['TEMPORAL_ADDRESS'] ?? (await startTemporal());
const { client, close } = connectClient({
  address,
  namespace,
  apiKey: undefined,
  tls: false,
});
stack.defer(close);
const { model, mcp, issuer, asking: askingServers } = await startDoubles(stack);
const dependencies: Dependencies = {
  temporal: { address, namespace },
  model,
  mcp,
  issuer,
  asking: askingServers,
};

const postgres = options.postgres ? stack.use(await startPostgres(process.env['DATABASE_URL'])) : undefined;
const load = () => loadavg()[0]?.toFixed(1);
const machine = `Node ${process.version}, ${availableParallelism()} cores, load ${load()}`;
console.log(`Interlude bench: ${samples} samples of each, ${machine}
The service (API and worker) runs in one process, the floor in another; both on one Temporal server.
In production's shape the service is four processes.`);
await measure('SQLite, embedded', dependencies, Object.keys(measurements));
if (postgres) {
  // A database for each service, because each generates encryption keys of its own.
  const onPostgres = async (): Promise<Dependencies> => ({
    ...dependencies,
    databaseUrl: await postgres.createDatabase(),
  });
  await measure('PostgreSQL', await onPostgres(), [
    'firstText',
    'answering',
    'throughput',
    'burst',
    'streaming',
    'readers',
    'disk',
  ]);
  await measure('PostgreSQL, two APIs and two workers', { ...(await onPostgres()), shape: 'production' }, [
    'answering',
    'throughput',
    'burst',
  ]);
}
if (repeatsSoFar() > 0) console.log(`\n${repeatsSoFar()} requests got a 503 and were repeated`);

async function startTemporal(): Promise<string> {
  const temporal = await startTemporalServer({
    temporal: { namespace, port: 0, uiPort: 0 },
    dataDir,
    logger,
  });
  stack.defer(() => temporal.stop());
  return temporal.address;
}

async function measure(title: string, around: Dependencies, names: string[]): Promise<void> {
  const wanted = names.filter((name) => only === undefined || only.includes(name));
  if (wanted.length === 0) return;
  await using setup = await setUp(around, client, samples);
  await warmUp(setup);
  for (const name of wanted) {
    const section = await measurements[name]?.(setup);
    if (section) print({ ...section, title: `${section.title} (${title})` });
  }
}

/** The first samples would measure code that V8 has not optimized yet. */
async function warmUp(setup: BenchSetup): Promise<void> {
  const quickly = { ...setup, samples: 5 };
  await firstText(quickly);
  await answering(quickly);
}
