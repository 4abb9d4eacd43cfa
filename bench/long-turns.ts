/** Turns of very many steps: whether the last step is as quick as the first, and what Temporal keeps of them. */
import { fileURLToPath } from 'node:url';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Row, Section } from './report.ts';
import { setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { workflowOf } from './workflow-of.ts';

const agent = 'asker';
const agentsFile = fileURLToPath(new URL('tool-agents.yaml', import.meta.url));
/** 25,000 tokens of English or so. */
const longText = 'Here are a few words. '.repeat(4_600);

export async function longTurns({ dependencies, client, samples }: BenchSetup): Promise<Section> {
  const env = { ...dependencies.env, INTERLUDE_CONFIG: agentsFile };
  await using setup = await setUp({ ...dependencies, env }, client, samples);
  const steps = samples < 30 ? 50 : 190;
  const rows: Row[] = [];
  const aims: Section['aims'] = [];
  for (const [tool, name] of [
    ['rounds__plain', 'tool of a server'],
    ['plain', 'plain tool in TypeScript'],
  ] as const) {
    const user = await setup.newUser();
    await user.gaps(say.callTimes(tool, 5), agent);
    const gaps = await user.gaps(say.callTimes(tool, steps), agent);
    const quarter = Math.floor(gaps.length / 4);
    const [first, last] = [gaps.slice(0, quarter), gaps.slice(-quarter)];
    rows.push({
      name: `step, ${name}`,
      meaning: `from one result to the next, with the model between, in the last ${quarter} of ${steps} steps, against the first ${quarter}`,
      ours: last,
      floor: first,
      unit: 'ms',
    });
    aims.push({
      name: `step, ${name}`,
      value: median(gaps),
      atMost: 36,
      because: 'ms, flat to the last step',
    });
  }
  const user = await setup.newUser();
  const conversation = await user.begin(longText, agent);
  await (await workflowOf(client, conversation)).result();
  for (let part = 1; part < 8; part++) await user.ask(longText, { conversation, agent });
  await user.ask(say.callTimes('rounds__plain', 100), { conversation, agent });
  const handle = await workflowOf(client, conversation);
  await handle.result();
  const { historyLength, historySize = 0 } = await handle.describe();
  rows.push({
    name: 'history of 100 calls',
    meaning: `in a conversation of 200,000 tokens; ${historyLength} events`,
    ours: [historySize / 1024],
    unit: 'KiB',
  });
  aims.push({ name: 'history of 100 calls', value: historySize / 1024, atMost: 512, because: 'KiB' });
  return { title: 'Long turns', rows, aims };
}
