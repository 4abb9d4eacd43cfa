/**
 * kill -9 of the worker at every stage of an answer's way into its thread. Each stage is an answer in a channel of its own,
 * of which Slack holds one call – carried out or not – until the worker is dead; some are held again when the next worker
 * has taken over. At the end each text is there once and in order.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { showOutput } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { startAskingServer } from '../../servers/asking-server.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { ChatRequest, Reply } from '../../servers/openai-server.ts';
import type { Fault } from '../../servers/slack/chat.ts';
import type { MethodCall } from '../../servers/slack/methods.ts';
import { buttonsOf } from '../../servers/slack/views.ts';
import { linkAlice } from './alice-in-slack.ts';
import { createSlackDeployment } from './slack-deployment.ts';
import type { SlackDeployment } from './slack-deployment.ts';

/** The stages of an answer's way into its thread at which the worker is killed, and the fake Slack's part in it. */
interface Stage {
  name: string;
  channel: string;
  /** `edited`: where Slack does not stream. `cut-off`: the model's words become void as well. */
  kind: 'text' | 'edited' | 'question' | 'cut-off';
  /** The calls that are under way when the worker is killed, first by first, second by second time. */
  holds: Hold[];
  /** Of a question: it is declined before the first kill, and else at the end. */
  isDeclinedEarly: boolean;
}

/** `stuck`: not carried out. `held`: carried out, and its answer is lost. */
type Hold = readonly [method: string, kind: 'stuck' | 'held'];

const start = 'chat.startStream';
const append = 'chat.appendStream';
const stop = 'chat.stopStream';
const post = 'chat.postMessage';
const update = 'chat.update';
const readBack = 'conversations.replies';

const listed: [kind: Stage['kind'], holds: Hold[], isDeclinedEarly?: boolean][] = [
  ['text', [[start, 'stuck']]],
  ['text', [[start, 'held']]],
  ['text', [[append, 'stuck']]],
  ['text', [[append, 'held']]],
  ['text', [[stop, 'stuck']]],
  ['text', [[stop, 'held']]],
  [
    'text',
    [
      [start, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  [
    'text',
    [
      [start, 'held'],
      [stop, 'held'],
      [update, 'stuck'],
    ],
  ],
  [
    'text',
    [
      [append, 'held'],
      [stop, 'stuck'],
      [stop, 'held'],
    ],
  ],
  [
    'text',
    [
      [append, 'stuck'],
      [update, 'held'],
    ],
  ],
  [
    'text',
    [
      [start, 'stuck'],
      [readBack, 'stuck'],
      [post, 'held'],
    ],
  ],
  ['edited', [[post, 'stuck']]],
  ['edited', [[post, 'held']]],
  ['edited', [[update, 'stuck']]],
  ['edited', [[update, 'held']]],
  [
    'edited',
    [
      [post, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  ['question', [[stop, 'held']]],
  ['question', [[post, 'stuck']]],
  ['question', [[post, 'held']]],
  [
    'question',
    [
      [post, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  ['question', []],
  ['question', [[update, 'stuck']], true],
  ['question', [[update, 'held']], true],
  ['cut-off', []],
];

const stages: Stage[] = listed.map(([kind, holds, isDeclinedEarly = false], index) => ({
  name: [kind, isDeclinedEarly ? 'declined' : '', ...holds.map(([method, how]) => `${method} ${how}`)]
    .filter((word) => word !== '')
    .join(', '),
  channel: `C${100 + index}`,
  kind,
  holds,
  isDeclinedEarly,
}));

function createStages() {
  let round = 0;
  let killed = Promise.withResolvers<void>();
  /** The stages of which a call is held until the next kill. */
  const atHold = new Set<Stage>();
  const begun = new Map(stages.map((stage) => [stage, Promise.withResolvers<void>()]));
  return {
    rounds: Math.max(...stages.map(({ holds }) => holds.length)),
    /** Resolves when Slack is first called for its words. */
    begun: (stage: Stage) => begun.get(stage)?.promise,
    faultOf({ method, args }: MethodCall): Fault | undefined {
      const stage = stages.find(({ channel }) => channel === args['channel']);
      if (!stage) return undefined;
      if (method === start || method === post) begun.get(stage)?.resolve();
      // What is tried again while the worker lives comes to nothing.
      if (atHold.has(stage)) return { kind: 'stuck', until: killed.promise };
      const [held, how] = stage.holds[round] ?? [];
      if (method === held && how) {
        atHold.add(stage);
        return { kind: how, until: killed.promise };
      }
      const isStream = method === start && stage.kind === 'edited';
      return isStream ? { kind: 'refused', code: 'channel_type_not_supported' } : undefined;
    },
    /** The stages of which a call is still to be held before the next kill. */
    notYetHeld: () =>
      stages.filter((stage) => stage.holds[round] && !atHold.has(stage)).map(({ name }) => name),
    /** The worker is dead: what waits for its answers waits for nothing, and the next round begins. */
    nextRound(): void {
      round += 1;
      atHold.clear();
      killed.resolve();
      killed = Promise.withResolvers();
    },
  };
}

const paragraphs = ['One two three.\n\n', 'Four five six.\n\n', 'Seven eight nine.'];
const soon = { interval: 100 };

let setup: SlackDeployment;
let worker: ServiceProcess;
const held = createStages();
const threads = new Map<Stage, string>();
const isAtModel = new Set<Stage>();
const all = Promise.withResolvers<void>();
const firstKill = Promise.withResolvers<void>();

/** Nothing is said until every turn has come this far, so that the stages are reached together. */
async function reply({ messages }: ChatRequest): Promise<Reply> {
  const stage = stages.find(({ channel }) => JSON.stringify(messages).includes(channel)) as Stage;
  const isFirst = !isAtModel.has(stage);
  isAtModel.add(stage);
  if (isAtModel.size === stages.length) all.resolve();
  await all.promise;
  if (messages.at(-1)?.role === 'tool') return { kind: 'text', chunks: ['That is all.'] };
  if (stage.kind === 'question')
    return {
      kind: 'tool-calls',
      say: 'I have to ask.',
      between: held.begun(stage),
      calls: [{ name: 'rounds__book', arguments: '{"city":"Rome"}' }],
    };
  return { kind: 'text', chunks: stage.kind === 'cut-off' && isFirst ? cutOff() : spoken(stage) };
}

async function* cutOff() {
  yield 'Words that are void.';
  await firstKill.promise;
}

async function* spoken(stage: Stage) {
  const [first = '', ...others] = paragraphs;
  yield first;
  await held.begun(stage);
  yield* others;
  // All is shown before it is known to be all.
  if (stage.kind === 'cut-off')
    await until(() => texts(stage).join() === paragraphs.join(''), `text of ${stage.name}`);
}

const until = (isSo: () => boolean, what: string) =>
  vi.waitFor(
    () => {
      if (!isSo()) throw new Error(`not yet: ${what}`);
    },
    { timeout: 60_000, interval: 50 },
  );

const shown = (stage: Stage) => setup.chat.thread(stage.channel, threads.get(stage) ?? '');
const texts = (stage: Stage) => shown(stage).map(({ text }) => text);

async function decline(stage: Stage): Promise<void> {
  const asked = () => shown(stage).flatMap(buttonsOf)[0]?.value;
  await until(() => asked() !== undefined, `question of ${stage.name}`);
  const caller = await setup.deployment.caller('alice');
  const { body } = await caller.request('GET', '/run/v1/elicitations');
  const items = body['items'] as { conversationId: string; elicitationId: string }[];
  const question = items.find(({ elicitationId }) => elicitationId === asked());
  expect(question).toBeDefined();
  const { status } = await caller.answer({
    conversationId: question?.conversationId ?? '',
    elicitationId: question?.elicitationId ?? '',
    action: 'decline',
  });
  expect(status).toBe(200);
}

beforeAll(async () => {
  const rounds = await startAskingServer({ era: 'modern' });
  const model = await createOpenAIServer({ reply });
  setup = await createSlackDeployment({
    INTERLUDE_CONFIG: new URL('../../fixtures/slack-agents.yaml', import.meta.url).pathname,
    MODEL_URL: model.baseURL,
    ROUNDS_URL: rounds.config.url,
    // A quarter of them is for Slack: room for all stages at once.
    WORKER_CALLS: String(4 * stages.length),
  });
  const { deployment, chat } = setup;
  deployment.defer(() => Promise.all([rounds.stop(), model.stop()]));
  [worker] = await Promise.all([deployment.start('worker'), deployment.start('server')]);
  await linkAlice(setup.storage.slack);
  chat.fault = held.faultOf;
  for (const stage of stages) threads.set(stage, await setup.mention(stage.channel, stage.channel));
  await Promise.all(stages.filter(({ isDeclinedEarly }) => isDeclinedEarly).map(decline));
  for (const stage of stages.filter(({ kind }) => kind === 'cut-off'))
    await until(() => texts(stage).join() === 'Words that are void.', stage.name);
  for (let round = 0; round < held.rounds; round += 1) {
    await until(() => held.notYetHeld().length === 0, 'a call of each stage is held');
    await worker.kill('SIGKILL');
    firstKill.resolve();
    held.nextRound();
    worker = await deployment.start('worker');
  }
  const late = stages.filter(({ kind, isDeclinedEarly }) => kind === 'question' && !isDeclinedEarly);
  for (const stage of late) await decline(stage);
}, 300_000);
afterAll(() => setup.deployment.stop());
afterEach(showOutput(() => setup.deployment));

describe('the worker is killed', () => {
  test.each(stages)('$name: everything is in the thread once', async (stage) => {
    const wanted =
      stage.kind === 'question'
        ? ['I have to ask.', '*Rounds*: Declined elsewhere.', 'That is all.']
        : [paragraphs.join('')];
    await expect.poll(() => texts(stage), soon).toEqual(wanted);
    expect(shown(stage).flatMap(buttonsOf)).toEqual([]);
    await expect.poll(() => unfinished(stage), soon).toEqual([]);
    expect(shown(stage).every(({ streamedSince }) => streamedSince === null)).toBe(true);
  });
});

/** Its messages that are uncertain, or will get additions. */
async function unfinished(stage: Stage) {
  const thread = { team: 'T1', channel: stage.channel, threadTs: threads.get(stage) ?? '', slackUser: 'U1' };
  const known = await setup.storage.slack.threads.get(thread);
  const [first] = known ? await setup.storage.turnLog.read(known, 0) : [];
  const messages = await setup.storage.slack.deliveries.messages(first?.turnId ?? '');
  expect(messages.length).toBeGreaterThan(0);
  return messages.filter(({ isSure, isOpen }) => !isSure || isOpen);
}
