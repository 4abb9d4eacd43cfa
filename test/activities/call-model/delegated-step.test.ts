/** Steps of agents that hand out tasks, and of those that have one. */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createDelegationActivities } from '../../../src/activities/delegations.ts';
import type { AgentConfig } from '../../../src/platform/config/config.ts';
import type { Turn } from '../../../src/turn/turn.ts';
import { activityEnvironment, agent, openModelStep, turn } from './model-step.ts';
import type { ModelStep } from './model-step.ts';

const researcher: AgentConfig = {
  ...agent,
  name: 'researcher',
  title: 'Researcher',
  description: 'looks things up',
  instructions: 'You look things up.',
  maxSteps: 7,
};
const agents = new Map([agent, researcher].map((one) => [one.name, one]));
agents.set(agent.name, { ...agent, agents: ['researcher'] });

const task = { task: 'Find Zanzibar' };
const handOver = (id: string, input: object = task) => ({
  id,
  name: 'agent__researcher',
  arguments: JSON.stringify(input),
});

function delegated(toolCallId: string): Turn {
  return { ...turn, agent: 'researcher', delegation: { toolCallId, path: ['researcher'] } };
}

/** The turn's own agent has handed two tasks over. */
async function handedOver(...replies: Parameters<typeof openModelStep>): Promise<ModelStep> {
  const it = await openModelStep({ kind: 'tool-calls', calls: [handOver('a'), handOver('b')] }, ...replies);
  await it.callModel({ agents });
  return it;
}

describe('an agent with others to ask', () => {
  test('is offered them as tools, and names them in the call and in the log', async () => {
    await using it = await openModelStep({ kind: 'tool-calls', calls: [handOver('a')] });
    const call = { toolCallId: 'a', toolName: 'agent__researcher' };
    expect(await it.callModel({ agents })).toEqual({
      finish: 'tool-calls',
      toolCalls: [{ kind: 'delegated', ...call, agent: 'researcher', maxSteps: 7 }],
    });
    const offered = it.server.requests[0]?.body.tools?.at(-1)?.function;
    expect(offered?.name).toBe('agent__researcher');
    expect(JSON.stringify(offered)).toMatch(/Researcher \(looks things up\).*"required":\["task"\]/);
    expect(await it.events()).toContainEqual({
      type: 'tool-input-available',
      ...call,
      input: task,
      agent: 'researcher',
    });
  });

  test.each([{}, { task: '' }, { task: 5 }, { job: 'Find Zanzibar' }])(
    'is told what is missing when it hands over no task: %o',
    async (input) => {
      await using it = await openModelStep({ kind: 'tool-calls', calls: [handOver('a', input)] });
      expect(await it.callModel({ agents })).toEqual({ finish: 'tool-calls', toolCalls: [] });
      const errors = (await it.events()).filter(({ type }) => type === 'tool-output-error');
      expect(errors).toMatchObject([{ errorText: expect.stringContaining('needs a "task"') }]);
      // Once more, after a crash: it is still no call.
      expect(await it.callModel({ agents, attempt: 2 })).toEqual({ finish: 'tool-calls', toolCalls: [] });
    },
  );

  test('hands out as many tasks at a time as it may, and reads why the others were not', async () => {
    const calls = [handOver('a', {}), handOver('b'), handOver('c'), handOver('d')];
    await using it = await openModelStep({ kind: 'tool-calls', calls });
    const delegation = { maxDepth: 5, maxPerStep: 1 };
    const { toolCalls } = await it.callModel({ agents, delegation });
    // One without a task takes no slot.
    expect(toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(['b']);
    const errors = (await it.events()).filter(({ type }) => type === 'tool-output-error');
    expect(errors).toMatchObject([
      { toolCallId: 'a', errorText: expect.stringContaining('needs a "task"') },
      ...['c', 'd'].map((toolCallId) => ({
        toolCallId,
        errorText:
          'Researcher was not asked: an agent may hand out one task at a time, and you have handed out as many in this step. When their answers are there, hand out what is left.',
      })),
    ]);
    // The limit is another one when a new attempt reads the step that was kept.
    const again = await it.callModel({ agents, delegation: { maxDepth: 1, maxPerStep: 9 }, attempt: 2 });
    expect(again.toolCalls).toEqual(toolCalls);
  });

  test('is told to do the task itself when it was handed on often enough', async () => {
    await using it = await handedOver({ kind: 'tool-calls', calls: [handOver('c')] });
    const both = new Map(agents).set('researcher', { ...researcher, agents: ['researcher'] });
    const delegation = { maxDepth: 1, maxPerStep: 10 };
    const { toolCalls } = await it.callModel({ agents: both, delegation, of: delegated('a') });
    expect(toolCalls).toEqual([]);
    const errors = (await it.events()).filter(({ type }) => type === 'tool-output-error');
    expect(errors).toMatchObject([
      {
        errorText:
          'Researcher was not asked: agents may hand a task on once at most, and this one has been handed on as often. Do the task yourself as far as you can, and say in your answer what is left.',
      },
    ]);
  });
});

describe('an agent with a task', () => {
  test('sees the task and nothing of the conversation', async () => {
    await using it = await handedOver({ kind: 'text', chunks: ['Found.'] });
    await it.callModel({ agents, of: delegated('a') });
    expect(it.server.requests.at(-1)?.body.messages).toEqual([
      { role: 'system', content: 'You look things up.' },
      { role: 'user', content: 'Find Zanzibar' },
    ]);
  });

  test('has parts, steps and calls of its own, whatever its model calls them', async () => {
    const list = { id: 'a', name: 'tracker__list_issues', arguments: '{}' };
    const reply = { kind: 'tool-calls' as const, calls: [list] };
    await using it = await handedOver(reply, reply, reply);
    const ids = ['a'];
    for (const lane of [delegated('a'), delegated('b')]) {
      const { toolCalls } = await it.callModel({ agents, of: lane });
      expect(toolCalls).toMatchObject([{ server: 'tracker', tool: 'list_issues' }]);
      ids.push(...toolCalls.map(({ toolCallId }) => toolCallId));
      expect((await it.storage.messages.list(lane)).map(({ role }) => role)).toEqual(['assistant']);
    }
    expect(new Set(ids).size).toBe(3);
    expect(await it.storage.messages.list(turn)).toHaveLength(2);
  });

  test('starts its words again without touching those of another', async () => {
    await using it = await handedOver(
      { kind: 'hang', chunks: ['Lo'] },
      { kind: 'text', chunks: ['Here'] },
      { kind: 'text', chunks: ['Look'] },
    );
    await expect(it.callModel({ agents, of: delegated('a'), silenceMs: 1_000 })).rejects.toThrow(
      'cannot be reached right now',
    );
    await it.callModel({ agents, of: delegated('b'), attempt: 2 });
    await it.callModel({ agents, of: delegated('a'), attempt: 2 });
    const resets = (await it.events()).filter(({ type }) => type === 'reset-step');
    expect(resets).toMatchObject([{ path: ['researcher'], parentToolCallId: 'a' }]);
    const said = (await it.events()).flatMap((event) =>
      event.type === 'text-delta' ? [[event.parentToolCallId, event.delta]] : [],
    );
    expect(said).toEqual([
      ['b', 'Here'],
      ['a', 'Look'],
    ]);
  });

  test('leaves its last words to the one that asked, once', async () => {
    await using it = await handedOver({ kind: 'text', chunks: ['Fou', 'nd.'] });
    await it.callModel({ agents, of: delegated('a') });
    const { finishDelegation } = createDelegationActivities({
      storage: it.storage,
      logger: pino({ level: 'silent' }),
      agents,
      abandonCall: () => Promise.resolve(),
    });
    const input = { turn, delegation: { toolCallId: 'a', path: ['researcher'] } };
    const finish = (status: 'completed' | 'failed') =>
      activityEnvironment().run(finishDelegation, { ...input, end: { status } });
    await finish('completed');
    await finish('failed');
    expect((await it.events()).filter(({ type }) => type.startsWith('tool-output'))).toEqual([
      {
        type: 'tool-output-available',
        toolCallId: 'a',
        toolName: 'agent__researcher',
        output: { content: [{ type: 'text', text: 'Found.' }] },
      },
    ]);
    expect((await it.storage.messages.list(turn)).at(-1)).toMatchObject({ role: 'tool' });
  });
});
