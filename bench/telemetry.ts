/** What traces cost: the processor time of turns with them and without, one after the other, in one process each. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
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
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

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
  const off = await start({});
  const on = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  const took = { off: [] as number[], on: [] as number[] };
  for (const measure of [off, on]) await measure();
  for (let round = 0; round < rounds; round++) {
    await breath();
    took.off.push(await off());
    took.on.push(await on());
  }
  return {
    title: 'Telemetry',
    rows: [
      {
        name: 'traces',
        meaning:
          'processor time of a turn with a call that asks and its answer, against the same without traces',
        ours: took.on,
        floor: took.off,
        unit: 'ms',
      },
    ],
    aims: [
      {
        name: 'traces cost of the processor time of a turn',
        value: median(took.on) / median(took.off) - 1,
        atMost: 0.05,
        because: 'telemetry is left on',
      },
    ],
  };
}
