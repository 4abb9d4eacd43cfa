import { CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { toolEventKey, toolMessageId } from '../../../src/turn/call-result.ts';
import { toEvent, toMessageContent } from '../../../src/turn/tool-result.ts';
import type { AgentConfig } from '../../../src/platform/config/config.ts';
import { activityEnvironment, agent, openModelStep, turn } from './model-step.ts';

describe('an answer in words', () => {
  test('is streamed into the log, kept as a message, and counted', async () => {
    await using it = await openModelStep({ kind: 'text', chunks: ['You ', 'have ', 'none.'] });
    expect(await it.callModel()).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
    expect(await it.story()).toEqual([
      'start-step',
      'text-start',
      'text-delta: You have none.',
      'text-end',
      'finish-step',
    ]);
    const [, said] = await it.storage.messages.list(turn);
    expect(said).toMatchObject({
      id: 't1/0',
      role: 'assistant',
      content: [{ type: 'text', text: 'You have none.' }],
    });
    const usage = { inputTokens: 11, outputTokens: 7 };
    expect((await it.events()).at(-1)).toEqual({ type: 'turn-ended', status: 'completed', usage });
    expect(await it.storage.turns.get(turn)).toMatchObject({ status: 'completed', usage });
    expect(it.logged()).toContain('turn t1 completed after');
  });

  test('begins to show while the model is still talking', async () => {
    await using it = await openModelStep({ kind: 'hang', chunks: ['Let me see'] });
    const environment = activityEnvironment();
    const running = it.callModel({ environment });
    const stop = new AbortController();
    for await (const entries of it.storage.turnLog.follow(turn, 0, stop.signal)) {
      if (entries.some(({ event }) => event.type === 'text-delta' && event.delta === 'Let me see')) break;
    }
    environment.cancel();
    await expect(running).rejects.toThrow(CancelledFailure);
  });

  test('gives the model instructions, history and tools, and the key only in its header', async () => {
    await using it = await openModelStep({ kind: 'text', chunks: ['ok'] });
    await it.callModel();
    const [request] = it.server.requests;
    expect(request?.headers.authorization).toBe('Bearer sk-secret');
    expect(request?.body.messages).toMatchObject([
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'List my open issues in Tracker.' },
    ]);
    const names = request?.body.tools?.map((tool) => tool.function.name);
    expect(names).toEqual(['tracker__list_issues', 'connect_notes']);
  });

  test('shows the thoughts before it as reasoning', async () => {
    await using it = await openModelStep({ kind: 'reasoning', thoughts: ['hm, ', 'well'], chunks: ['Yes.'] });
    await it.callModel();
    expect(await it.story()).toEqual([
      'start-step',
      'reasoning-start',
      'reasoning-delta: hm, well',
      'reasoning-end',
      'text-start',
      'text-delta: Yes.',
      'text-end',
      'finish-step',
    ]);
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'refused'],
  ] as const)('that was cut short (%s) says so, in the result and in the log', async (finish, expected) => {
    await using it = await openModelStep({ kind: 'text', chunks: ['Once upon'], finish });
    expect(await it.callModel()).toEqual({ finish: expected, toolCalls: [], hasEnded: true });
    expect((await it.events()).at(-2)).toEqual({ type: 'finish-step', step: 0, finish: expected });
    expect(await it.callModel({ attempt: 2 })).toEqual({ finish: expected, toolCalls: [] });
  });
});

describe('tool calls', () => {
  test('are kept with their input, and only their names leave for the workflow', async () => {
    await using it = await openModelStep({
      kind: 'tool-calls',
      say: 'One moment.',
      calls: [
        { id: 'a', name: 'tracker__list_issues', arguments: '{"state":"open"}' },
        { id: 'b', name: 'connect_notes', arguments: '{}' },
      ],
    });
    expect(await it.callModel()).toEqual({
      finish: 'tool-calls',
      toolCalls: [
        {
          kind: 'server',
          toolCallId: 'a',
          toolName: 'tracker__list_issues',
          server: 'tracker',
          tool: 'list_issues',
        },
        { kind: 'server', toolCallId: 'b', toolName: 'connect_notes', server: 'notes', tool: null },
      ],
    });
    const row = await it.storage.toolCalls.get(turn, 'a');
    expect(row).toMatchObject({ input: { state: 'open' }, state: 'requested' });
    expect(await it.story()).toEqual([
      'start-step',
      'text-start',
      'text-delta: One moment.',
      'text-end',
      'tool-input-available',
      'tool-input-available',
      'finish-step',
    ]);
  });

  test('and their results are the next step’s history', async () => {
    await using it = await openModelStep(
      { kind: 'tool-calls', calls: [{ id: 'a', name: 'tracker__list_issues', arguments: '{}' }] },
      { kind: 'text', chunks: ['Two.'] },
    );
    await it.callModel();
    const call = { toolCallId: 'a', toolName: 'tracker__list_issues' };
    const result = { kind: 'output' as const, output: { content: [{ type: 'text', text: '#1, #2' }] } };
    await it.storage.toolCalls.finish(turn, 'a', {
      message: { id: toolMessageId(turn, 'a'), role: 'tool', content: toMessageContent(call, result) },
      event: { key: toolEventKey('a'), event: toEvent(call, result) },
    });
    await it.callModel({ step: 1 });
    expect(it.server.requests[1]?.body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'a' }] },
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('#1, #2') },
    ]);
  });

  const list = 'tracker__list_issues';
  test.each([
    ['of a tool that was not offered', 'rm_rf', '{}', /There is no tool "rm_rf".*tracker__list_issues/],
    ['with arguments that are no JSON', list, '{"state": ', /not a JSON object/],
    ['with arguments that are no object', list, '["open"]', /not a JSON object/],
  ])('%s are answered with what is wrong, and the model goes on', async (_, name, input, words) => {
    await using it = await openModelStep(
      { kind: 'tool-calls', calls: [{ id: 'bad', name, arguments: input }] },
      { kind: 'text', chunks: ['Sorry.'] },
    );
    expect(await it.callModel()).toEqual({ finish: 'tool-calls', toolCalls: [] });
    expect((await it.events()).find(({ type }) => type === 'tool-output-error')).toMatchObject({
      toolCallId: 'bad',
      errorText: expect.stringMatching(words),
    });
    expect(await it.storage.toolCalls.get(turn, 'bad')).toBeNull();
    // Again, as after a lost result: the same answer.
    expect(await it.callModel({ attempt: 2 })).toEqual({ finish: 'tool-calls', toolCalls: [] });
    expect(await it.callModel({ step: 1 })).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
    const told = it.server.requests[1]?.body.messages.find(({ role }) => role === 'tool');
    expect(String(told?.content)).toMatch(words);
  });

  test('one wrong call does not keep its neighbour from running', async () => {
    await using it = await openModelStep({
      kind: 'tool-calls',
      calls: [
        { id: 'bad', name: 'rm_rf', arguments: '{}' },
        { id: 'good', name: list, arguments: '{}' },
      ],
    });
    const { toolCalls } = await it.callModel();
    expect(toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(['good']);
    expect(await it.callModel({ attempt: 2 })).toEqual({ finish: 'tool-calls', toolCalls });
  });

  test('with an id the conversation has seen get one of their own', async () => {
    const calls = [{ id: 'call_0', name: list, arguments: '{}' }];
    await using it = await openModelStep({ kind: 'tool-calls', calls }, { kind: 'tool-calls', calls });
    const first = await it.callModel();
    const second = await it.callModel({ step: 1 });
    expect(first.toolCalls[0]?.toolCallId).toBe('call_0');
    expect(second.toolCalls[0]?.toolCallId).toMatch(/^call_\w{16}$/);
    expect(await it.storage.toolCalls.unfinished(turn)).toHaveLength(2);
  });
});

test('cancelling hangs up on the model and stores nothing', async () => {
  await using it = await openModelStep({ kind: 'hang', chunks: ['Let me'] });
  const environment = activityEnvironment();
  const arrival = it.server.next();
  const running = it.callModel({ environment });
  const { ended } = await arrival;
  environment.cancel();
  await expect(running).rejects.toThrow(CancelledFailure);
  expect(await ended).toBe('left');
  expect(await it.storage.messages.list(turn)).toHaveLength(1);
  expect(it.logged()).not.toContain('model call failed');
});

describe('what the agents file says of an agent', () => {
  const own = (more: Partial<AgentConfig>) => ({ agents: new Map([[agent.name, { ...agent, ...more }]]) });

  test('reaches its model: the common settings, and those of the provider', async () => {
    await using it = await openModelStep({ kind: 'text', chunks: ['ok'] });
    const modelSettings = {
      temperature: 0.2,
      maxOutputTokens: 300,
      topP: 0.9,
      presencePenalty: 0.1,
      frequencyPenalty: -0.1,
      stopSequences: ['END'],
      seed: 7,
      providerOptions: { openaiCompatible: { user: 'u1', verbosity: 'low' } },
    };
    await it.callModel(own({ modelSettings }));
    expect(it.server.requests[0]?.body).toMatchObject({
      temperature: 0.2,
      max_tokens: 300,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      stop: ['END'],
      seed: 7,
      user: 'u1',
      verbosity: 'low',
    });
  });

  test('decides nothing where it says nothing', async () => {
    await using it = await openModelStep({ kind: 'text', chunks: ['ok'] });
    await it.callModel();
    expect(Object.keys(it.server.requests[0]?.body ?? {}).toSorted()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
      'tool_choice',
      'tools',
    ]);
  });

  test('is the list of tools that its model sees, and that may be called', async () => {
    await using it = await openModelStep(
      { kind: 'tool-calls', calls: [{ id: 'a', name: 'tracker__list_issues', arguments: '{}' }] },
      { kind: 'text', chunks: ['Sorry.'] },
    );
    const servers = [
      { name: 'tracker', tools: ['delete_issue'] },
      { name: 'notes', tools: ['read'] },
    ];
    const options = own({ servers });
    expect(await it.callModel(options)).toEqual({ finish: 'tool-calls', toolCalls: [] });
    const offered = it.server.requests[0]?.body.tools?.map((tool) => tool.function.name);
    expect(offered).toEqual(['connect_notes']);
    expect((await it.events()).find(({ type }) => type === 'tool-output-error')).toMatchObject({
      errorText: expect.stringMatching(/There is no tool "tracker__list_issues".*connect_notes/),
    });
  });
});
