/** A server's question in the middle of a tool call, from the call to the result, answered by a person at once. */
import { answer } from './doubles/asking-tools.ts';
import { ways } from './doubles/asking.ts';
import type { Way } from './doubles/asking.ts';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Row, Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const tools = ['plain', 'ask'] as const;

export async function asking(setup: BenchSetup): Promise<Section> {
  const rows: Row[] = [];
  for (const way of Object.keys(ways) as Way[]) rows.push(...(await oneWay(setup, way)));
  return { title: 'A server asks in the middle of a call', rows };
}

async function oneWay({ dependencies, samples, newUser }: BenchSetup, way: Way): Promise<Row[]> {
  const { asking: servers } = dependencies;
  const ours = { plain: [] as number[], ask: [] as number[] };
  const bare = { plain: [] as number[], ask: [] as number[] };
  const user = await newUser();
  const call = (tool: 'plain' | 'ask') =>
    user.call(`${say.call} ${way}__${tool}`, { agent: 'asker', content: answer });
  // The first call learns what the server speaks.
  for (const tool of tools) await call(tool);
  // A program is started for each call, which takes its time and varies little.
  const count = way === 'program' ? Math.ceil(samples / 4) : samples;
  for (let sample = 0; sample < count; sample++) {
    for (const tool of tools) {
      await breath();
      bare[tool].push(await timed(() => servers.callDirectly(way, tool)));
      await breath();
      ours[tool].push(await call(tool));
    }
  }
  const added = Math.round(median(ours.ask) - median(ours.plain));
  return [
    {
      name: `${ways[way]}: question / call`,
      meaning: `call, question, answer over HTTP and result at the client, against a plain call of the same server (${added < 0 ? '−' : '+'}${Math.abs(added)} ms)`,
      ours: ours.ask,
      floor: ours.plain,
      unit: 'ms',
    },
    {
      name: `${ways[way]}: question / bare`,
      meaning: 'the same, against a bare SDK client that goes through the same rounds with the server',
      ours: ours.ask,
      floor: bare.ask,
      unit: 'ms',
    },
    {
      name: `${ways[way]}: call / bare`,
      meaning:
        'a plain call, from the model that wants it to the result at the client, against the bare SDK client',
      ours: ours.plain,
      floor: bare.plain,
      unit: 'ms',
    },
  ];
}
