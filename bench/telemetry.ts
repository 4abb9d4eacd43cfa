/** What telemetry costs: the processor time of turns with it and without, one after the other, in one process each. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { freePort } from '../src/development/ports.ts';
import { answer } from './doubles/asking-tools.ts';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { startService } from './service.ts';
import { createUser } from './user.ts';

const rounds = 10;
const turnsPerRound = 40;

export async function telemetry({ dependencies, client }: BenchSetup): Promise<Section> {
  await using stack = new AsyncDisposableStack();
  // Takes all that comes, as a collector does.
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  stack.defer(() => void collector.close());
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');

  const start = async (env: Record<string, string>) => {
    const service = stack.use(
      await startService({ ...dependencies, env: { ...dependencies.env, ...env } }, client),
    );
    const user = createUser(service.baseUrl, 'telemetry', await dependencies.issuer.token('telemetry'));
    /** Of one turn with a call that asks, in milliseconds. */
    return async () => {
      const before = await service.inside('cpu');
      for (let turn = 0; turn < turnsPerRound; turn++)
        await user.call(`${say.call} rounds__ask`, { agent: 'asker', content: answer });
      return ((await service.inside('cpu')) - before) / turnsPerRound;
    };
  };
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  // Both exporters, and as often as Prometheus asks by default.
  const metrics = {
    OTEL_METRICS_EXPORTER: 'prometheus,otlp',
    OTEL_METRIC_EXPORT_INTERVAL: '15000',
    INTERNAL_PORT: String(await freePort('127.0.0.1')),
  };
  const off = await start({});
  const kinds = [
    {
      name: 'traces',
      turn: await start({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }),
      took: [] as number[],
    },
    {
      name: "metrics, Temporal's own included",
      turn: await start({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none', ...metrics }),
      took: [] as number[],
    },
    {
      name: 'all telemetry',
      turn: await start({
        OTEL_EXPORTER_OTLP_ENDPOINT,
        ...metrics,
        INTERNAL_PORT: String(await freePort('127.0.0.1')),
      }),
      took: [] as number[],
    },
  ];
  const without: number[] = [];
  for (const measure of [off, ...kinds.map(({ turn }) => turn)]) await measure();
  for (let round = 0; round < rounds; round++) {
    await breath();
    without.push(await off());
    for (const { turn, took } of kinds) took.push(await turn());
  }
  const all = kinds.at(-1)?.took ?? [];
  return {
    title: 'Telemetry',
    rows: kinds.map(({ name, took }) => ({
      name,
      meaning:
        'processor time of a turn with a call that asks and its answer, against the same without telemetry',
      ours: took,
      floor: without,
      unit: 'ms',
    })),
    aims: [
      {
        name: 'all telemetry of the processor time of a turn',
        value: median(all) / median(without) - 1,
        atMost: 0.05,
        because: 'telemetry is left on',
      },
    ],
  };
}
