/** Turns whose workflow an operator resets to an earlier workflow task: the new run finds in the database how far it was. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { accept, city, useAskingService } from '../asking/asking-service.ts';
import type { AskedTurn } from '../asking/asking-service.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { Reply } from '../servers/openai-server.ts';
import { asks, done, form } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { resetPoints, resetWorkflow } from './reset-workflow.ts';
import type { ResetPoint } from './reset-workflow.ts';
import { idOf, isWaiting, untilDelegatesWait, untilWaiting } from './waiting.ts';

const tool = (name: string, destructiveHint: boolean) => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { destructiveHint },
});

let isOutboxHeld = false;
afterEach(() => void (isOutboxHeld = false));

const setup = useAskingService({
  env: { ASKING_APPROVAL: 'destructive' },
  tools: [tool('ask', false), tool('erase', true)],
  isOutboxHeld: () => isOutboxHeld,
});

const one = asks({ one: form('One') }, 's1');
const two = asks({ two: form('Two') }, 's2');
const booked = done('booked');

const reset = (turn: AskedTurn, to: ResetPoint) => resetWorkflow(setup.temporal.client, idOf(turn), to);
const resultOf = (turn: AskedTurn) => setup.temporal.client.workflow.getHandle(idOf(turn)).result();

async function resetWhileWaiting(turn: AskedTurn, to: ResetPoint): Promise<void> {
  await untilWaiting(setup, turn);
  await reset(turn, to);
}

/** The turn ends as if nothing had happened, after so many requests at its server and these questions. */
async function expectBooked(turn: AskedTurn, requests: number, ids: string[]): Promise<void> {
  expect(await turn.end()).toMatchObject({
    text: 'booked',
    error: undefined,
    questions: ids.map((elicitationId) => ({ elicitationId, status: 'accept' })),
  });
  expect(await resultOf(turn)).toEqual({ status: 'completed' });
  expect(setup.server.calls).toHaveLength(requests);
}

interface Kind {
  tool: string;
  moves: ScriptedReply[];
  response: ReturnType<typeof accept>;
}
const kinds: Record<string, Kind> = {
  'a server’s question': { tool: 'ask', moves: [one, booked], response: city() },
  'an approval': { tool: 'erase', moves: [booked], response: accept() },
};

describe.each(Object.entries(kinds))('a turn that waits for %s', (_, { tool: name, moves, response }) => {
  const begin = () => setup.begin(moves, { text: callOf([name]) });

  test.each(resetPoints)('and is reset to its %s task, waits for the same question again', async (to) => {
    const turn = await begin();
    const { elicitationId } = await turn.question(0);
    await resetWhileWaiting(turn, to);
    await untilWaiting(setup, turn);
    expect(await turn.answer(0, response)).toMatchObject({ status: 200, body: { duplicate: false } });
    await expectBooked(turn, moves.length, [elicitationId]);
  });

  test.each(resetPoints)(
    'and is reset to its %s task after the answer and before its signal, acts on the answer',
    async (to) => {
      const turn = await begin();
      const { elicitationId } = await turn.question(0);
      isOutboxHeld = true;
      expect(await turn.answer(0, response)).toMatchObject({ status: 200 });
      await resetWhileWaiting(turn, to);
      isOutboxHeld = false;
      await expectBooked(turn, moves.length, [elicitationId]);
    },
  );
});

test('a turn that is reset twice while it waits for its second answer, waits for it again', async () => {
  const turn = await setup.begin([one, two, booked]);
  const first = await turn.question(0);
  await turn.answer(0, city());
  const second = await turn.question(1);
  await resetWhileWaiting(turn, 'first');
  await resetWhileWaiting(turn, 'first');
  await untilWaiting(setup, turn);
  expect(await turn.answer(1, city())).toMatchObject({ status: 200 });
  await expectBooked(turn, 3, [first.elicitationId, second.elicitationId]);
});

test.each(resetPoints)(
  'a turn that is reset to its %s task while a request is under way sends no other one, and says what is not known',
  async (to) => {
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const turn = await setup.begin([
      one,
      (message, response) => {
        arrived.resolve();
        void released.promise.then(() => answer(message, response, booked));
      },
    ]);
    await turn.answer(0, city());
    await arrived.promise;
    await reset(turn, to);
    const { error } = await turn.end();
    expect(error).toContain('unknown whether the action took place');
    expect(await resultOf(turn)).toEqual({ status: 'completed' });
    released.resolve();
    expect(setup.server.calls).toHaveLength(2);
  },
);

test('a turn that has ended stays as it is, and so does the one after it', async () => {
  const turn = await setup.begin([booked]);
  await turn.end();
  const { storage } = setup.service;
  const ref = { tenant: 'demo', conversation: turn.conversation, turnId: turn.stream.turnId };
  const stateOf = async () => [
    await storage.turns.get(ref),
    await storage.messages.list(ref),
    (await storage.turnLog.read(ref, 0))
      .filter(({ turnId }) => turnId === ref.turnId)
      .map(({ event }) => event.type),
  ];
  expect(await resultOf(turn)).toEqual({ status: 'completed' });
  const next = await setup.begin([one, booked], { conversation: turn.conversation });
  await untilWaiting(setup, next);
  const before = await stateOf();
  await reset(turn, 'first');
  expect(await resultOf(turn)).toEqual({ status: 'completed' });
  expect(await stateOf()).toEqual(before);
  await next.answer(0, city());
  expect(await next.end()).toMatchObject({ text: 'booked' });
  expect(setup.server.calls).toHaveLength(2);
});

describe('a turn that has delegated', () => {
  async function begin(...moves: ScriptedReply[]): Promise<{ turn: AskedTurn; delegate: string }> {
    const text = `ask the assistant to ${callOf(['ask'])}`;
    const turn = await setup.begin(moves, { agentId: 'lead', text });
    await turn.question(0);
    const [delegate = ''] = await untilDelegatesWait(setup, turn, 'assistant', 1);
    return { turn, delegate };
  }
  const untilItWaits = (delegate: string) => expect.poll(() => isWaiting(setup, delegate)).toBe(true);
  const runIdOf = async (workflowId: string) =>
    (await setup.temporal.client.workflow.getHandle(workflowId).describe()).runId;

  async function expectTold(turn: AskedTurn, requests: number, ids: string[]): Promise<void> {
    expect(await turn.end()).toMatchObject({
      text: 'I was told: booked',
      error: undefined,
      questions: ids.map((elicitationId) => ({ elicitationId, status: 'accept' })),
    });
    expect(await resultOf(turn)).toEqual({ status: 'completed' });
    expect(setup.server.calls).toHaveLength(requests);
  }

  test.each(resetPoints)('has the answer when its delegate is reset to its %s task', async (to) => {
    const { turn, delegate } = await begin(one, booked);
    const { elicitationId } = await turn.question(0);
    await resetWorkflow(setup.temporal.client, delegate, to);
    await untilItWaits(delegate);
    expect(await turn.answer(0, city())).toMatchObject({ status: 200 });
    await expectTold(turn, 2, [elicitationId]);
  });

  test('and is reset to before that, has another run of its delegate wait for the same answers', async () => {
    const { turn, delegate } = await begin(one, two, booked);
    const first = await turn.question(0);
    await turn.answer(0, city());
    const second = await turn.question(1);
    const before = await runIdOf(delegate);
    await reset(turn, 'first');
    await expect.poll(() => runIdOf(delegate)).not.toBe(before);
    await untilItWaits(delegate);
    expect(await turn.answer(1, city())).toMatchObject({ status: 200 });
    await expectTold(turn, 3, [first.elicitationId, second.elicitationId]);
  });

  test('and is reset to after that, keeps its delegate', async () => {
    const { turn, delegate } = await begin(one, booked);
    const { elicitationId } = await turn.question(0);
    const before = await runIdOf(delegate);
    await reset(turn, 'latest');
    expect(await turn.answer(0, city())).toMatchObject({ status: 200 });
    await expectTold(turn, 2, [elicitationId]);
    expect(await runIdOf(delegate)).toBe(before);
  });
});

describe('a turn whose model speaks', () => {
  let replies: Reply[] = [];
  const used = useService({
    async needs(stack) {
      const model = await createOpenAIServer({
        reply: () => replies.shift() ?? { kind: 'text', chunks: ['Done.'] },
      });
      stack.defer(() => model.stop());
      const agents = fileURLToPath(new URL('../fixtures/next-step-agents.yaml', import.meta.url));
      return { env: { INTERLUDE_CONFIG: agents, MODEL_URL: model.baseURL, ASKING_URL: setup.server.url } };
    },
  });

  test('and is reset, has the model speak again: what it said before is void', async () => {
    replies = [{ kind: 'hang', chunks: ['Wrong '] }];
    const conversation = randomUUID();
    const stream = await used.alice.chat('go on', { conversation });
    await stream.until(({ type }) => type === 'text-delta');
    await resetWorkflow(used.temporal.client, idOf({ conversation, stream }), 'first');
    await stream.finished();
    const { storage } = used.service;
    const ref = { tenant: 'demo', conversation };
    const messages = await storage.messages.list(ref);
    expect(messages.at(-1)?.content).toEqual([{ type: 'text', text: 'Done.' }]);
    const said = (await storage.turnLog.read(ref, 0)).flatMap(({ event }) =>
      event.type === 'text-delta' ? event.delta : [],
    );
    expect(said.join('')).toBe('Done.');
  });
});
