/**
 * Clients of A2A call our agents, with the official SDK over each transport and version: how a task goes, and each end of a
 * question. The daily suite has the newest version, the full one the older.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form, page } from '../../servers/scripted-mcp-server.ts';
import { answerOf, connectAgent, elicitationExtension, readStream, stateOf, wordsOf } from './a2a-client.ts';

const callAsk = 'call asking__ask {}';
const named = { city: { type: 'string', minLength: 2 } };

const setup = useAskingService();
const isDaily = inject('suite') === 'daily';
const bindings = isDaily
  ? ([
      ['JSONRPC', '1.0'],
      ['HTTP+JSON', '1.0'],
    ] as const)
  : ([['JSONRPC', '0.3']] as const);

describe.each([...bindings])('over %s of %s', (transport, version) => {
  const connect = (options = {}) => connectAgent(setup.service, { transport, version, ...options });

  test('an agent answers, and its context goes on', async () => {
    const agent = await connect();
    const task = await agent.send('hello');
    expect(stateOf(task)).toBe('COMPLETED');
    expect(answerOf(task)).toBe('You said: hello');
    expect(task.history).toMatchObject([{ parts: [{ content: { value: 'hello' } }] }]);
    const next = await agent.send('and again', { contextId: task.contextId });
    expect(next).toMatchObject({ contextId: task.contextId });
    expect(next.id).not.toBe(task.id);
    expect(await agent.get(task.id)).toEqual(task);
  });

  test('an answer streams: the task, then its text, then its end', async () => {
    const agent = await connect();
    const { states, answer, last } = await readStream(agent.stream('hello'));
    expect(states).toEqual(expect.arrayContaining(['WORKING', 'COMPLETED']));
    expect(states.at(-1)).toBe('COMPLETED');
    const whole = answerOf(await agent.get(last?.id ?? ''));
    expect(whole).toBe('You said: hello');
    expect(answer).toBe(whole);
  });

  test('a form is answered in words, and the same task goes on', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connect();
    const asked = await agent.send(callAsk);
    expect(stateOf(asked)).toBe('INPUT_REQUIRED');
    expect(wordsOf(asked)).toContain('Which city?');
    const again = await agent.send('L', { taskId: asked.id });
    expect(stateOf(again)).toBe('INPUT_REQUIRED');
    expect(wordsOf(again)).toContain('Please answer again: city: must be at least 2 characters');
    const task = await agent.send('Lisbon', { taskId: asked.id });
    expect(stateOf(task)).toBe('COMPLETED');
    expect(answerOf(task)).toBe('done');
    expect(setup.server.calls[1]?.params.inputResponses).toEqual({
      city: { action: 'accept', content: { city: 'Lisbon' } },
    });
  });

  test('“no” is a refusal', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connect();
    const asked = await agent.send(callAsk);
    await agent.send('No, thanks.', { taskId: asked.id });
    expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: { action: 'decline' } });
  });

  test('a stream ends when it takes a message to go on', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connect();
    const { states, last } = await readStream(agent.stream(callAsk));
    expect(states.at(-1)).toBe('INPUT_REQUIRED');
    const { states: after, answer } = await readStream(
      agent.stream({ city: 'Lisbon' }, { taskId: last?.id ?? '' }),
    );
    expect(after.at(-1)).toBe('COMPLETED');
    expect(answer).toBe('done');
  });

  test('a link leaves the stream open, and what is agreed to elsewhere goes on in it', async () => {
    setup.server.play(asks({ there: page('https://example.com/a') }));
    const agent = await connect();
    const other = await connect();
    const states: string[] = [];
    for await (const { payload } of agent.stream(callAsk)) {
      if (payload?.$case !== 'statusUpdate') continue;
      states.push(stateOf(payload.value));
      if (states.at(-1) !== 'AUTH_REQUIRED') continue;
      expect(wordsOf(payload.value)).toContain('(it leads to example.com)');
      await other.send('done', { taskId: payload.value.taskId });
    }
    expect(states).toContain('AUTH_REQUIRED');
    expect(states.at(-1)).toBe('COMPLETED');
  });

  test('with the extension, question and answer are data', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connect({ extension: true });
    const asked = await agent.send(callAsk);
    const message = asked.status?.message;
    const structured = message?.metadata?.[elicitationExtension] as Record<string, unknown>;
    expect(message?.extensions).toEqual([elicitationExtension]);
    expect(structured).toMatchObject({
      mode: 'form',
      message: 'Which city?',
      requestedSchema: { type: 'object' },
    });
    const { elicitationId } = structured;
    const answer = { elicitationId, action: 'accept', content: { city: 'Lisbon' } };
    const task = await agent.send('', {
      taskId: asked.id,
      metadata: { [elicitationExtension]: answer },
    });
    expect(answerOf(task)).toBe('done');
  });

  test('a task is cancelled, and is over then', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connect();
    const { id } = await agent.send(callAsk);
    const cancelled = await agent.client.cancelTask({ id, tenant: '', metadata: undefined });
    expect(stateOf(cancelled)).toBe('CANCELED');
    await expect(agent.client.cancelTask({ id, tenant: '', metadata: undefined })).rejects.toThrow(/over/);
    await expect(agent.send('Lisbon', { taskId: id })).rejects.toThrow(/over/);
  });

  test('somebody else has no such task', async () => {
    const { id, contextId } = await (await connect()).send('hello');
    const bob = await connect({ user: 'bob' });
    await expect(bob.get(id)).rejects.toThrow(/no task/);
    await expect(bob.send('hello', { contextId })).rejects.toThrow(/no context/);
    await expect(bob.send('hello', { taskId: id })).rejects.toThrow(/no task/);
    await expect(bob.get(randomUUID())).rejects.toThrow(/no task/);
  });

  test.runIf(version === '1.0')('tasks are listed page by page, of a context or of a state', async () => {
    const agent = await connect({ user: 'bob' });
    const statusTimestampAfter = new Date().toISOString();
    const first = await agent.send('one');
    await agent.send('two', { contextId: first.contextId });
    await agent.send('three');
    const list = async (params = {}) =>
      agent.client.listTasks({
        tenant: '',
        contextId: '',
        status: 0,
        pageToken: '',
        statusTimestampAfter,
        ...params,
      });
    const page1 = await list({ pageSize: 2 });
    expect(page1).toMatchObject({ pageSize: 2, totalSize: 3 });
    expect(page1.tasks).toHaveLength(2);
    const page2 = await list({ pageSize: 2, pageToken: page1.nextPageToken });
    expect(page2.nextPageToken).toBe('');
    expect(new Set([...page1.tasks, ...page2.tasks].map(({ id }) => id)).size).toBe(3);
    const { tasks } = await list({ contextId: first.contextId, includeArtifacts: true });
    expect(tasks.map(answerOf).toSorted()).toEqual(['You said: one', 'You said: two']);
    expect((await list({ status: 5 })).tasks).toEqual([]);
  });
});

describe.runIf(isDaily)('of any version', () => {
  test('a message that is sent again is the same task, also when its answer is already on record', async () => {
    const question = { city: form('Which city?', named) };
    setup.server.play(asks(question), asks({ day: form('Which day?', { day: { type: 'string' } }) }));
    const agent = await connectAgent(setup.service);
    const messageId = randomUUID();
    const asked = await agent.send(callAsk, { messageId });
    expect((await agent.send(callAsk, { messageId })).id).toBe(asked.id);
    await expect(agent.send('other words', { messageId })).rejects.toThrow(/messageId/);

    const answerId = randomUUID();
    const next = await agent.send('Lisbon', { taskId: asked.id, messageId: answerId });
    expect(wordsOf(next)).toContain('Which day?');
    const repeated = await agent.send('Lisbon', { taskId: asked.id, messageId: answerId });
    expect(wordsOf(repeated)).toContain('Which day?');
    expect(stateOf(await agent.send('Monday', { taskId: asked.id }))).toBe('COMPLETED');
  });

  test('several questions of one round are shown one after the other, and the rest counted', async () => {
    setup.server.play(
      asks({ city: form('Which city?', named), day: form('Which day?', { day: { type: 'string' } }) }),
    );
    const agent = await connectAgent(setup.service);
    const first = await agent.send(callAsk, { returnImmediately: false });
    const second = await agent.send('Lisbon', { taskId: first.id });
    expect(stateOf(second)).toBe('INPUT_REQUIRED');
    const done = await agent.send('Monday', { taskId: first.id });
    expect(stateOf(done)).toBe('COMPLETED');
  });

  test('an answer that names only its context is taken where one question is open, and once', async () => {
    setup.server.play(asks({ city: form('Which city?', named) }));
    const agent = await connectAgent(setup.service);
    const asked = await agent.send(callAsk);
    const messageId = randomUUID();
    const { contextId } = asked;
    const done = await agent.send('Lisbon', { contextId, messageId });
    expect([done.id, stateOf(done)]).toEqual([asked.id, 'COMPLETED']);
    expect((await agent.send('Lisbon', { contextId, messageId })).id).toBe(asked.id);
    const next = await agent.send('hello', { contextId });
    expect(next.id).not.toBe(asked.id);
  });
});
