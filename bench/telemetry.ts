/** What telemetry costs: the processor time of turns with it and without, one after the other, in one process each. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { freePort } from '../src/platform/network/ports.ts';
import { answer } from './doubles/asking-tools.ts';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { startService } from './service.ts';
import { createUser } from './user.ts';
import type { User } from './user.ts';

const rounds = 10;
const turnsPerRound = 40;
/** At once: what timers cost is shared by as many turns as in a service that is used. */
const users = 4;
/** Until then most of the time goes into compiling what runs often, telemetry's code like all other. */
const turnsBefore = 240;

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
    const token = await dependencies.issuer.token('telemetry');
    const asking = Array.from({ length: users }, () => createUser(service.baseUrl, 'telemetry', token));
    /** Of one turn with a call that asks, in milliseconds. */
    return async (turns = turnsPerRound) => {
      const before = await service.inside('cpu');
      let left = turns;
      const ask = async (user: User) => {
        while (left-- > 0) await user.call(`${say.call} rounds__ask`, { agent: 'asker', content: answer });
      };
      await Promise.all(asking.map(ask));
      return ((await service.inside('cpu')) - before) / turns;
    };
  };
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  // Both exporters, and as often as Prometheus asks by default.
  const metrics = {
    OTEL_METRICS_EXPORTER: 'prometheus,otlp',
    OTEL_METRIC_EXPORT_INTERVAL: '15000',
    INTERNAL_PORT: String(await freePort('127.0.0.1')),
  };
  const kind = async (name: string, env: Record<string, string>) => ({
    name,
    turn: await start(env),
    took: [] as number[],
  });
  const off = await kind('off', {});
  const all = await kind('all telemetry', {
    OTEL_EXPORTER_OTLP_ENDPOINT,
    ...metrics,
    INTERNAL_PORT: String(await freePort('127.0.0.1')),
  });
  const kinds = [
    await kind('traces', { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }),
    await kind("metrics, Temporal's own included", {
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_TRACES_EXPORTER: 'none',
      ...metrics,
    }),
    all,
  ];
  let order = [off, ...kinds];
  for (const { turn } of order) await turn(turnsBefore);
  for (let round = 0; round < rounds; round++) {
    for (const { turn, took } of order) {
      await breath();
      took.push(await turn());
    }
    // Each is the first as often as the others.
    order = [...order.slice(1), ...order.slice(0, 1)];
  }
  const more = all.took.map((took, round) => took / (off.took[round] ?? NaN) - 1);
  return {
    title: 'Telemetry',
    rows: kinds.map(({ name, took }) => ({
      name,
      meaning:
        'processor time of a turn with a call that asks and its answer, against the same without telemetry',
      ours: took,
      floor: off.took,
      unit: 'ms',
    })),
    aims: [
      {
        name: 'all telemetry of the processor time of a turn',
        value: median(more),
        atMost: 0.05,
        because: 'telemetry is left on',
      },
    ],
  };
}
