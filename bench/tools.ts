/** Tools in TypeScript: what a question costs beside one of a server, and very many that wait and are answered at once. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer } from './doubles/asking-tools.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import { eachOf } from './each-of.ts';
import { median } from './report.ts';
import type { Row, Section } from './report.ts';
import { breath, setUp, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { Question, User } from './user.ts';
import { workflowOf } from './workflow-of.ts';

const agent = 'asker';
const atOnce = 10;
const agentsFile = fileURLToPath(new URL('tool-agents.yaml', import.meta.url));

export async function tools({ dependencies, client, samples }: BenchSetup): Promise<Section> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bench-bookings-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const bookings = path.join(folder, 'bookings');
  const env = { ...dependencies.env, INTERLUDE_CONFIG: agentsFile, BENCH_BOOKINGS: bookings };
  const setup = stack.use(await setUp({ ...dependencies, env }, client, samples));
  const rows = [...(await oneQuestion(setup)), ...(await events(setup)), ...(await wizards(setup, bookings))];
  return { title: 'Tools in TypeScript', rows };
}

async function oneQuestion({ samples, newUser }: BenchSetup): Promise<Row[]> {
  const user = await newUser();
  const call = (tool: string) => user.call(`${say.call} ${tool}`, { agent, content: answer });
  const took = {
    plain: [] as number[],
    plain_run: [] as number[],
    ask: [] as number[],
    rounds__plain: [] as number[],
    rounds__ask: [] as number[],
  };
  const names = Object.keys(took) as (keyof typeof took)[];
  for (const name of names) await call(name);
  for (let sample = 0; sample < samples; sample++)
    for (const name of names) {
      await breath();
      took[name].push(await call(name));
    }
  const added = Math.round(median(took.ask) - median(took.plain_run));
  return [
    {
      name: 'call',
      meaning:
        'from the model that wants it to the result at the client, against a call of a server of the new era',
      ours: took.plain,
      floor: took.rounds__plain,
      unit: 'ms',
    },
    {
      name: 'call of run',
      meaning: 'the same of a tool that may ask, which is a workflow',
      ours: took.plain_run,
      floor: took.rounds__plain,
      unit: 'ms',
    },
    {
      name: 'call with a question',
      meaning: `the same with a question that is answered over HTTP, against such a call of the server; the question alone +${added} ms`,
      ours: took.ask,
      floor: took.rounds__ask,
      unit: 'ms',
    },
  ];
}

/** In the history of the turn and in that of the tool. */
async function events(setup: BenchSetup): Promise<Row[]> {
  const { client, newUser } = setup;
  const user = await newUser();
  const of = async (tool: string): Promise<number> => {
    const question = await user.beAsked(`${say.call} ${tool}`, { agent }).catch(() => null);
    const conversation = question?.conversation ?? (await user.begin(`${say.call} ${tool}`, agent));
    if (question) await user.answer(question, answer);
    const root = await workflowOf(client, conversation);
    await root.result();
    const history = (await root.fetchHistory()).events ?? [];
    let sum = history.length;
    for (const { startChildWorkflowExecutionInitiatedEventAttributes: child } of history)
      if (child?.workflowId)
        sum += (await client.workflow.getHandle(child.workflowId).describe()).historyLength;
    return sum;
  };
  const [plain, run, ask, serverPlain, serverAsk] = [
    await of('plain'),
    await of('plain_run'),
    await of('ask'),
    await of('rounds__plain'),
    await of('rounds__ask'),
  ];
  return [
    {
      name: 'turn with a call',
      meaning: 'in the history of the turn and in that of the tool, against a call of the server',
      ours: [plain],
      floor: [serverPlain],
      unit: 'events',
    },
    {
      name: 'question',
      meaning: 'what a question adds to that',
      ours: [ask - run],
      floor: [serverAsk - serverPlain],
      unit: 'events',
    },
  ];
}

async function wizards(setup: BenchSetup, bookings: string): Promise<Row[]> {
  const { service, samples, newUser } = setup;
  const count = samples < 30 ? 100 : 1_000;
  const memory = () => service.inside('memory');
  await eachOf(count / 4, atOnce, async () => {
    await (await newUser()).call(`${say.call} wizard`, { agent, content: answer });
  });
  const bookedBefore = await linesOf(bookings);
  const before = await memory();
  const waiting: { user: User; question: Question }[] = [];
  await eachOf(count, atOnce, async () => {
    const user = await newUser();
    waiting.push({ user, question: await user.beAsked(`${say.call} wizard`, { agent }) });
  });
  const during = await memory();
  let lost = 0;
  const answerAll = () =>
    timed(() =>
      Promise.all(
        waiting.map(({ user, question }) =>
          user.answer(question, answer).catch((error: unknown) => {
            lost++;
            console.error(error);
          }),
        ),
      ),
    );
  const startedAt = performance.now();
  const acknowledgedMs = await answerAll();
  for (const one of waiting) one.question = await nextQuestion(setup, one.question);
  await answerAll();
  for (const { question } of waiting) await ended(setup, question);
  const endedMs = performance.now() - startedAt;
  const booked = (await linesOf(bookings)) - bookedBefore;
  const after = await memory();
  const each = (more: number, less: number) => [(more - less) / 1024 / count];
  return [
    {
      name: `${count} wizards wait, resident`,
      meaning: 'resident memory each adds to API and worker: its agent and itself, both cached, clients gone',
      ours: each(during.resident, before.resident),
      unit: 'KiB',
    },
    {
      name: `${count} wizards wait, in use`,
      meaning: 'the same, of memory in use in the main thread, on the JavaScript heap and beside it',
      ours: each(during.inUse, before.inUse),
      unit: 'KiB',
    },
    {
      name: `${count} wizards ended, resident`,
      meaning: 'what is left of each once all are answered',
      ours: each(after.resident, before.resident),
      unit: 'KiB',
    },
    {
      name: 'answered at once',
      meaning: `POSTs of the first answer, all in the same moment (more is better); ${lost} of ${2 * count} were refused`,
      ours: [count / (acknowledgedMs / 1000)],
      unit: '/s',
    },
    {
      name: 'last one over',
      meaning: 'two answers each, until the last turn has ended',
      ours: [endedMs],
      unit: 'ms',
    },
    {
      name: 'effects',
      meaning: `of ${count} wizards, each once; anything else is a fault`,
      ours: [booked],
      unit: 'answers',
    },
  ];
}

async function nextQuestion(
  { service }: BenchSetup,
  { conversation, elicitationId }: Question,
): Promise<Question> {
  for (;;) {
    const open = await service.storage.elicitations.ofConversation({ tenant, conversation }, 'pending');
    const next = open.find(({ id }) => id !== elicitationId);
    if (next) return { conversation, elicitationId: next.id };
    await sleep(20);
  }
}

async function ended({ service }: BenchSetup, { conversation }: Question): Promise<void> {
  while (await service.storage.turns.live({ tenant, conversation })) await sleep(20);
}

async function linesOf(file: string): Promise<number> {
  return (await readFile(file, 'utf8')).split('\n').length - 1;
}
