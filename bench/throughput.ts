/** How much goes through, and what one write to the turn log costs. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../src/platform/config/config.ts';
import { unfinishedCallResult } from '../src/turn/call-result.ts';
import { bareInsert } from './bare-insert.ts';
import { eachOf } from './each-of.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const atOnce = 20;

export async function throughput({ service, floor, samples, newUser }: BenchSetup): Promise<Section> {
  const count = samples * 3;
  const user = await newUser();
  const turns: number[] = [];
  const workflows: number[] = [];
  for (let round = 0; round < 3; round++) {
    workflows.push((await floor.run({ count, atOnce })).perSecond);
    const ms = await timed(() => eachOf(count, atOnce, () => user.ask(say.briefly)));
    turns.push(count / (ms / 1000));
  }
  const append = await appending(service.storage, service.config.database, samples * 5);
  return {
    title: 'How much goes through',
    rows: [
      {
        name: 'turns',
        meaning: `turns of one model step, ${atOnce} at a time (more is better), against bare workflows with one activity`,
        ours: turns,
        floor: workflows,
        unit: '/s',
      },
      {
        name: 'append',
        meaning:
          'one event into the turn log, durably, against a bare insert and commit on the same database',
        ours: append.one,
        floor: append.bare,
        unit: 'ms',
      },
      {
        name: 'append of 10',
        meaning: 'ten events in one append, against the same bare insert',
        ours: append.ten,
        floor: append.bare,
        unit: 'ms',
      },
    ],
    aims: [
      {
        name: 'turns a second',
        value: median(turns),
        atLeast: 0.85 * median(workflows),
        because: '0.85 × bare workflows',
      },
    ],
  };
}

async function appending(
  { turns, turnLog }: BenchSetup['service']['storage'],
  database: Config['database'],
  count: number,
): Promise<{ one: number[]; ten: number[]; bare: number[] }> {
  const turn = { tenant, conversation: randomUUID(), turnId: randomUUID() };
  const rest = { agent: 'assistant', user: null, capabilities: { url: false, form: false } };
  await turns.prepare(
    { ...turn, ...rest, clientMessageId: 'first', messages: [] },
    { onBusy: 'refuse', resultOf: unfinishedCallResult },
  );
  await turns.begin(turn);
  let written = 0;
  const events = (howMany: number) =>
    Array.from({ length: howMany }, () => ({
      key: String(written++),
      event: { type: 'text-delta' as const, id: '0', delta: 'a few words' },
    }));
  const measured = { one: [] as number[], ten: [] as number[], bare: [] as number[] };
  await using insert = await bareInsert(database);
  for (let sample = 0; sample < count; sample++) {
    measured.bare.push(await timed(() => insert.run()));
    measured.one.push(await timed(() => turnLog.append(turn, events(1))));
    measured.ten.push(await timed(() => turnLog.append(turn, events(10))));
  }
  return measured;
}
