/** What questions cost while nobody answers them: in the process, and in Temporal. */
import { eachOf } from './each-of.ts';
import { answer } from './doubles/asking-tools.ts';
import { ways } from './doubles/asking.ts';
import type { Way } from './doubles/asking.ts';
import { say } from './doubles/model.ts';
import type { Row, Section } from './report.ts';
import { breath, setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { Question, User } from './user.ts';
import { workflowOf } from './workflow-of.ts';

const agent = 'asker';
const atOnce = 10;

export async function openQuestions(setup: BenchSetup): Promise<Section> {
  const { dependencies, client, samples } = setup;
  const count = samples < 30 ? 100 : 1_000;
  await using fresh = await setUp(dependencies, client, samples);
  const memory = () => fresh.service.inside('memory');
  // Whatever is only needed once is there by then, and the heap has had its largest size.
  await eachOf(count / 2, atOnce, async () => {
    const user = await fresh.newUser();
    await user.call(`${say.call} rounds__ask`, { agent, content: answer });
  });
  const before = await memory();
  const open: { user: User; question: Question }[] = [];
  await eachOf(count, atOnce, async () => {
    const user = await fresh.newUser();
    open.push({ user, question: await user.beAsked(`${say.call} rounds__ask`, { agent }) });
  });
  const during = await memory();
  await eachOf(count, atOnce, async (index) => {
    const one = open[index];
    await one?.user.answer(one.question, answer);
  });
  await eachOf(count, atOnce, async (index) => {
    await (await workflowOf(fresh.client, open[index]?.question.conversation ?? '')).result();
  });
  const after = await memory();
  const bare = await fresh.floor.wait({ count: Math.min(count, 200) });
  const each = (more: number, less: number) => [(more - less) / 1024 / count];
  return {
    title: `${count} questions of a server of the new era are open`,
    rows: [
      {
        name: 'open question, resident',
        meaning: 'resident memory each adds to API and worker, clients gone; against a bare waiting workflow',
        ours: each(during.resident, before.resident),
        floor: [bare.bytesEach / 1024],
        unit: 'KiB',
      },
      {
        name: 'open question, in use',
        meaning: 'the same, of memory in use on the JavaScript heap and beside it',
        ours: each(during.inUse, before.inUse),
        unit: 'KiB',
      },
      {
        name: 'answered again, in use',
        meaning: 'what is left of each once all are answered and their turns are over; near 0 is noise',
        ours: each(after.inUse, before.inUse),
        unit: 'KiB',
      },
      ...(await histories(fresh)),
    ],
  };
}

/** What the question of each kind of server adds to history, while it is open and in the end. */
async function histories(setup: BenchSetup): Promise<Row[]> {
  const floors = await setup.floor.histories();
  const wait = minus(floors.waitAndAct, floors.startAndAct);
  const rows: Row[] = [];
  for (const way of Object.keys(ways) as Way[]) {
    const user = await setup.newUser();
    await user.call(`${say.call} ${way}__plain`, { agent, content: answer });
    const plain = await finished(setup, await user.begin(`${say.call} ${way}__plain`, agent));
    const question = await user.beAsked(`${say.call} ${way}__ask`, { agent });
    await breath();
    const open = await historyOf(setup, question.conversation);
    await user.answer(question, answer);
    const asked = await finished(setup, question.conversation);
    const added = minus(asked, plain);
    rows.push(
      {
        name: `${ways[way]}: question`,
        meaning: `events that a question adds, against a bare wait for a signal; ${open.events} in all while it is open`,
        ours: [added.events],
        floor: [wait.events],
        unit: 'events',
      },
      {
        name: `${ways[way]}: question`,
        meaning: `the same; ${(open.bytes / 1024).toFixed(1)} in all while it is open`,
        ours: [added.bytes / 1024],
        floor: [wait.bytes / 1024],
        unit: 'KiB',
      },
    );
  }
  return rows;
}

interface History {
  events: number;
  bytes: number;
}

async function finished(setup: BenchSetup, conversation: string): Promise<History> {
  await (await workflowOf(setup.client, conversation)).result();
  return historyOf(setup, conversation);
}

async function historyOf(setup: BenchSetup, conversation: string): Promise<History> {
  const workflow = await workflowOf(setup.client, conversation);
  const { historyLength, historySize = 0 } = await workflow.describe();
  return { events: historyLength, bytes: historySize };
}

function minus(more: History, less: History): History {
  return { events: more.events - less.events, bytes: more.bytes - less.bytes };
}
