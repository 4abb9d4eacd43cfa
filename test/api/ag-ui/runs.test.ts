/** Stock clients of AG-UI 1.0, and what none of them sends. */
import { randomUUID } from 'node:crypto';
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { turnWorkflowId } from '../../../src/turn/turn.ts';
import { png } from '../../images.ts';
import { ask as askInTurn, beginTurn, formRequest, startApi } from '../api-under-test.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';
import { askBoth, askCity, call, named, pageTools, testRuns, useAgUiService } from './runs.ts';
import { cancelled, connect, post, runUrl } from './stock-client.ts';

/** Makes the log unreadable. */
let isLogBroken = false;
/** Keeps questions from being asked. */
let held: Promise<void> | undefined;
const logger = createLogger({ level: 'silent', human: false });
const setup = useAgUiService({
  logger: Object.assign(logger, { child: () => logger }),
  around: ({ turnLog, elicitations, ...storage }) => ({
    ...storage,
    elicitations: {
      ...elicitations,
      async open(...given) {
        await held;
        return elicitations.open(...given);
      },
    },
    turnLog: {
      ...turnLog,
      follow(...given) {
        if (isLogBroken) throw new Error('the log is broken');
        return turnLog.follow(...given);
      },
    },
  }),
});
const { service } = setup;
const answers = () => setup.server.calls.at(-1)?.params.inputResponses;

testRuns(setup, '1.0.0');

test('a client that joins late gets the thread as a snapshot, and the open questions', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }), {
    ...done('see'),
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', data: png, mimeType: 'image/png' },
    ],
  });
  const first = await connect(service);
  await first.run('hello');
  await first.run(call);
  const late = await connect(service, { threadId: first.threadId });
  const joined = await late.run();
  expect(joined.types).toContain('MESSAGES_SNAPSHOT');
  expect(joined.outcome).toBe('interrupt');
  expect(late.agent.messages).toEqual(first.agent.messages);
  await late.resolve({ city: 'Lisbon' });
  expect(late.agent.messages.find(({ role }) => role === 'tool')).toMatchObject({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'data', value: png, mimeType: 'image/png' } },
    ],
  });
  const stale = await first.run(undefined, { resume: cancelled(first.agent.pendingInterrupts) });
  expect(stale.outcome).toBe('success');
  expect(first.agent.messages).toEqual(late.agent.messages);
});

test('a thread without a message is empty', async () => {
  const client = await connect(service);
  expect((await client.run()).types).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
});

describe('what stock clients do not send', () => {
  const ask = async (moves = askBoth()) => {
    setup.server.play(moves);
    const client = await connect(service);
    const { interrupts } = await client.run(call);
    const idOf = (words: string) => interrupts.find(({ message }) => message === words)?.id ?? '';
    return { threadId: client.threadId, interrupts, city: idOf('Which city?'), day: idOf('Which day?') };
  };
  const resolved = (interruptId: string, payload?: unknown) => ({ interruptId, status: 'resolved', payload });
  const statuses = async (conversation: string) =>
    (await service.storage.elicitations.ofConversation({ tenant: 'demo', conversation })).map(
      ({ status }) => status,
    );
  const openIn = (events: { type: string }[]) =>
    (events.at(-1) as unknown as { outcome: { interrupts?: { id: string }[] } }).outcome.interrupts?.map(
      ({ id }) => id,
    );

  test('an answer to one of two questions: the run ends with the one that is still open', async () => {
    const { threadId, city, day } = await ask();
    const { events } = await post(service, { threadId, resume: [resolved(city, { city: 'Lisbon' })] });
    expect(openIn(events)).toEqual([day]);
    expect(await statuses(threadId)).toEqual(expect.arrayContaining(['accept', 'pending']));
    await post(service, { threadId, resume: [resolved(day, { day: 'Monday' })] });
    expect(await statuses(threadId)).toEqual(['accept', 'accept']);
  });

  test('entries that are refused change nothing, and the error points at them', async () => {
    const { threadId, city, day } = await ask();
    const good = resolved(day, { day: 'Monday' });
    const other = await ask();
    const cases: [resume: object[], status: number, code: string, pointer: string | null][] = [
      [[good, resolved(randomUUID())], 404, 'elicitation_not_found', null],
      [[good, resolved(other.city, { city: 'Rome' })], 404, 'elicitation_not_found', null],
      [[good, good], 400, 'invalid_request', '/resume/1/interruptId'],
      [[good, resolved(city, 'Lisbon')], 400, 'invalid_request', '/resume/1/payload'],
      [[good, resolved(city)], 400, 'invalid_request', '/resume/1/payload'],
      [
        [good, resolved(city, { action: 'accept', remember: 'always' })],
        400,
        'invalid_request',
        '/resume/1/payload',
      ],
      [[good, { interruptId: city, status: 'done' }], 400, 'invalid_request', '/resume/1/status'],
      [[good, { status: 'resolved' }], 400, 'invalid_request', '/resume/1/interruptId'],
    ];
    for (const [resume, status, code, pointer] of cases) {
      const refused = await post(service, { threadId, resume });
      expect([refused.status, refused.problem.code]).toEqual([status, code]);
      expect(refused.problem.errors?.[0].pointer ?? null).toBe(pointer);
    }
    expect(await statuses(threadId)).toEqual(['pending', 'pending']);
    const stranger = await post(service, { threadId, resume: [good] }, { user: 'bob' });
    expect([stranger.status, stranger.problem.code]).toEqual([404, 'conversation_not_found']);
    const messages = [{ id: 'new', role: 'user', content: 'and this' }];
    expect((await post(service, { threadId, resume: [good], messages })).status).toBe(400);
    expect(await statuses(threadId)).toEqual(['pending', 'pending']);
  });

  test('an answer after the deadline is refused; the thread goes on with a cancelled entry', async () => {
    const { threadId, city } = await ask(askCity());
    await service.storage.elicitations.settle([city], { type: 'expired-by-operator' });
    const late = await post(service, { threadId, resume: [resolved(city, { city: 'Lisbon' })] });
    expect([late.status, late.problem.code]).toEqual([410, 'expired']);
    const resume = [{ interruptId: city, status: 'cancelled' }];
    const { events } = await post(service, { threadId, resume });
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(await statuses(threadId)).toEqual(['expired']);
  });

  test('an answer after the deadline, before a worker has closed the question, is reported as expired; the run gets its end', async () => {
    const api = await startApi();
    onTestFinished(() => api.stop());
    const { app, storage } = api;
    const turn = await beginTurn(storage, 'late');
    const request = formRequest({ type: 'object', properties: {} });
    const id = await askInTurn(storage, turn, { server: null, request, timeoutMs: 0 });
    const url = runUrl({ baseUrl: await app.listen({ port: 0, host: '127.0.0.1' }) });
    const run = { threadId: 'late', runId: 'late', messages: [], resume: [resolved(id, {})] };
    const { body } = await fetch(url, {
      method: 'POST',
      headers: { ...api.headers('alice'), 'content-type': 'application/json' },
      body: JSON.stringify({ ...run, state: {}, tools: [], context: [], forwardedProps: {} }),
    });
    let text = '';
    const told = () =>
      [...text.matchAll(/"interlude\/question".*?"status":"(\w+)"/g)].map(([, status]) => status);
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const before = told().length;
      text += chunk;
      if (told().length === before) continue;
      if (before === 0) await storage.elicitations.settle([id], { type: 'deadline-passed' });
      else await storage.turns.end(turn, 'completed', { isOwn: true });
    }
    expect(told()).toEqual(['expired', 'expired']);
    expect(text).toContain('"RUN_FINISHED"');
  });

  test('an error after the first event is an event', async () => {
    isLogBroken = true;
    const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
    const { events } = await post(service, { threadId: randomUUID(), messages });
    isLogBroken = false;
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
  });

  test('an answer that was given elsewhere: the run goes on and says so', async () => {
    const { threadId, city } = await ask(askCity());
    const answer = { conversationId: threadId, elicitationId: city, action: 'decline' };
    await setup.alice.answer(answer);
    const { events } = await post(service, { threadId, resume: [resolved(city, { city: 'Lisbon' })] });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'CUSTOM',
        name: 'interlude/question',
        value: { interruptId: city, status: 'decline' },
      }),
    );
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(answers()).toEqual({ city: { action: 'decline' } });
  });

  test('the same run again is the same run', async () => {
    const { threadId, city } = await ask(askCity());
    const again = { threadId, runId: randomUUID(), resume: [resolved(city, { city: 'Lisbon' })] };
    for (let time = 0; time < 2; time++)
      expect((await post(service, again)).events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(setup.server.calls).toHaveLength(2);
    const said = (content: string) => ({
      threadId: `${threadId}-2`,
      runId: again.runId,
      messages: [{ id: 'm1', role: 'user', content }],
    });
    await post(service, said('hello'));
    expect((await post(service, said('hello'))).events.at(-1)).toMatchObject({
      outcome: { type: 'success' },
    });
    expect((await post(service, said('something else'))).problem.code).toBe('idempotency_key_reused');
  });

  test('a new message while a call is at work: 409, and no question is closed', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { threadId, interrupts } = await ask(askCity());
    const result = done();
    setup.server.play(({ id }, response) => {
      void held.then(() =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result })),
      );
    });
    const going = post(service, { threadId, resume: [resolved(interrupts[0]?.id ?? '', { city: 'Rome' })] });
    await expect.poll(() => setup.server.calls.length).toBe(1);
    const messages = [{ id: randomUUID(), role: 'user', content: 'hello' }];
    const refused = await post(service, { threadId, messages, resume: cancelled(interrupts) });
    expect([refused.status, refused.problem.code]).toEqual([409, 'turn_in_progress']);
    release();
    expect((await going).events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(await statuses(threadId)).toEqual(['accept']);
  });

  test.each<[what: string, body: Record<string, unknown>, pointer: string]>([
    ['a thread that is no id', { threadId: 'a/b' }, '/threadId'],
    ['a tool of the front end', { tools: [{ name: 'alert', description: '' }] }, '/tools'],
    ['too much of a page', { context: [{ description: 'Page', value: 'x'.repeat(16_000) }] }, '/context'],
    ['a shared state', { state: { steps: [] } }, '/state'],
    ['an address as an image', { image: 'https://example.com/a.png' }, '/messages/0/content/0/source/value'],
    ['an empty message', { content: ' ' }, '/messages/0/content'],
  ])('%s is refused', async (_what, { content, image, ...body }, pointer) => {
    const source = { type: 'url', value: image };
    const parts = image === undefined ? (content ?? 'hello') : [{ type: 'image', source }];
    const messages = [{ id: 'm1', role: 'user', content: parts }];
    const refused = await post(service, { threadId: randomUUID(), messages, ...body });
    expect(refused.status).toBe(400);
    expect(refused.problem.errors[0].pointer).toBe(pointer);
  });

  test('an unknown agent, and a thread of another agent', async () => {
    const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
    const threadId = randomUUID();
    expect((await post(service, { threadId, messages }, { agent: 'nobody' })).status).toBe(404);
    await post(service, { threadId, messages });
    const moved = await post(
      service,
      { threadId, messages: [{ ...messages[0], id: 'm2' }] },
      { agent: 'lead' },
    );
    expect([moved.status, moved.problem.errors[0].pointer]).toEqual([400, '/threadId']);
    const looked = await post(service, { threadId }, { agent: 'lead' });
    expect([looked.status, looked.problem.errors[0].pointer]).toEqual([400, '/threadId']);
  });

  test('answers come under the runId of the run that asked, as CopilotKit sends them', async () => {
    const day = asks({ day: form('Which day?', { day: { type: 'string' } }) });
    setup.server.play(askCity(), day, done());
    const client = await connect(service);
    const runId = randomUUID();
    const answer = (payload: object) =>
      client.run(undefined, {
        runId,
        resume: client.agent.pendingInterrupts.map(({ id }) => ({
          interruptId: id,
          status: 'resolved' as const,
          payload,
        })),
      });
    await client.run(call, { runId });
    expect((await answer({ city: 'L' })).outcome).toBe('interrupt');
    expect((await answer({ city: 'Lisbon' })).interrupts[0]?.message).toBe('Which day?');
    expect((await answer({ action: 'decline' })).outcome).toBe('success');
  });

  test('a used runId: nothing of a resume is recorded, and another context is another message', async () => {
    const { threadId, city, day } = await ask();
    const runId = randomUUID();
    const first = { threadId, runId, resume: [resolved(city, { city: 'Lisbon' })] };
    await post(service, first);
    const reused = { ...first, resume: [resolved(day, { day: 'Monday' }), ...first.resume] };
    expect((await post(service, reused)).problem.code).toBe('idempotency_key_reused');
    const other = { ...first, resume: [resolved(city, { city: 'Rome' })] };
    expect((await post(service, other)).problem.code).toBe('idempotency_key_reused');
    expect(await statuses(threadId)).toEqual(expect.arrayContaining(['accept', 'pending']));
    const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
    const shown = (value: string) => ({
      threadId: `${threadId}-2`,
      runId,
      messages,
      context: [{ description: 'Order', value }],
    });
    expect((await post(service, shown('1'))).status).toBe(200);
    const again = await post(service, shown('2'));
    expect([again.status, again.problem.code]).toEqual([422, 'idempotency_key_reused']);
  });
});

describe('a call of a tool of the front end', () => {
  const tools = pageTools;
  const begin = async (text = 'call set_theme {"theme":"dark"}') => {
    const client = await connect(service, { agent: 'browser' });
    const run = await client.run(text, { tools });
    const [toolCallId = ''] = run.events.flatMap((event) =>
      event.type === 'TOOL_CALL_START' ? [event.toolCallId] : [],
    );
    const { threadId } = client;
    const send = (content: unknown, more: object = {}, user = 'alice') =>
      post(
        service,
        { threadId, messages: [{ id: randomUUID(), role: 'tool', toolCallId, content, ...more }] },
        { agent: 'browser', user },
      );
    return { client, threadId, toolCallId, send, run };
  };
  const resultsOf = async (conversation: string) =>
    (await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0)).flatMap(({ event }) =>
      event.type === 'tool-output-available' || event.type === 'tool-output-error' ? [event] : [],
    );
  const settled = (status: string, toolCallId: string) =>
    expect.objectContaining({
      name: 'interlude/question',
      value: { interruptId: expect.any(String), status, toolCallId },
    });

  test('a result that comes before the turn waits for it counts, or is refused until it does', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    held = promise;
    try {
      const client = await connect(service, { agent: 'browser' });
      const { threadId } = client;
      const { events } = await client.run('call set_theme {"theme":"dark"}', {
        tools,
        cutAt: 'TOOL_CALL_END',
      });
      const { toolCallId } = events.at(-1) as { toolCallId: string };
      const send = () => {
        const result = { id: 'early', role: 'tool', toolCallId, content: 'It is dark.' };
        return post(service, { threadId, messages: [result] }, { agent: 'browser' });
      };
      const refused = await send();
      expect([refused.status, refused.problem.code]).toEqual([409, 'turn_in_progress']);
      expect(refused.problem.detail).toContain('/messages/0/toolCallId');
      const sent = send();
      goOn();
      expect((await sent).events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
      await client.run();
      expect(client.texts()).toEqual(['It is dark.']);
    } finally {
      held = undefined;
      goOn();
    }
  });

  test('a second result changes nothing, and says so', async () => {
    const { client, threadId, toolCallId, send } = await begin();
    const first = await send('It is dark.');
    expect(first.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    const second = await send('It is light.');
    expect(second.events).toContainEqual(settled('accept', toolCallId));
    expect(await resultsOf(threadId)).toMatchObject([{ output: { content: [{ text: 'It is dark.' }] } }]);
    await client.run();
    expect(client.texts()).toEqual(['It is dark.']);
  });

  test('a result after the deadline changes nothing; the model reads that there was none', async () => {
    const { client, threadId, toolCallId, send } = await begin();
    const [question] = await service.storage.elicitations.ofConversation({
      tenant: 'demo',
      conversation: threadId,
    });
    await service.storage.elicitations.settle([question?.id ?? ''], { type: 'expired-by-operator' });
    const late = await send('It is dark.');
    expect(late.events).toContainEqual(settled('expired', toolCallId));
    expect(late.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    await client.run();
    expect(client.texts()[0]).toContain('The page sent no result of set_theme before the time was up.');
  });

  test('what is no result of an open call is refused, and the error points at it', async () => {
    const { threadId, toolCallId, send } = await begin();
    const result = { id: randomUUID(), role: 'tool', toolCallId, content: 'dark' };
    const other = await begin();
    const cases: [messages: object[], status: number, pointer: string][] = [
      [[result, { ...result, id: 'r2' }], 400, '/messages/1/toolCallId'],
      [[{ ...result, toolCallId: undefined }], 400, '/messages/0/toolCallId'],
      [[{ ...result, content: [{ type: 'image' }] }], 400, '/messages/0/content/0'],
      [[{ ...result, content: 'x'.repeat(100_001) }], 400, '/messages/0/content'],
      [[result, { ...result, toolCallId: 'call_unknown' }], 404, '/messages/1/toolCallId'],
    ];
    for (const [messages, status, pointer] of cases) {
      const refused = await post(service, { threadId, messages }, { agent: 'browser' });
      expect(refused.status).toBe(status);
      expect(JSON.stringify(refused.problem)).toContain(pointer);
    }
    const stranger = await send('dark', {}, 'bob');
    expect([stranger.status, stranger.problem.code]).toEqual([404, 'conversation_not_found']);
    expect(await resultsOf(threadId)).toEqual([]);
    await Promise.all([send('dark'), other.send('dark')]);
  });

  test('an error of the front end is an error for the model; a message in between replaces the turn', async () => {
    const { threadId, client, send } = await begin();
    await send('', { error: 'No such theme.' });
    expect(await resultsOf(threadId)).toMatchObject([
      { type: 'tool-output-error', errorText: 'No such theme.' },
    ]);
    await client.run('call get_size {}', { tools });
    await client.run('hello', { tools });
    expect(client.texts()).toEqual(['Sorry, that did not work. No such theme.', 'You said: hello']);
    expect((await resultsOf(threadId)).at(-1)).toMatchObject({
      type: 'tool-output-error',
      outcome: 'cancel',
    });
  });

  test('beside a question: the run ends with the interrupt, and the next one brings the answer and the result', async () => {
    setup.server.play(askCity(), done('Lisbon it is'));
    const { client, run } = await begin(`call set_theme {}\n${call}`);
    expect(run.interrupts).toMatchObject([{ message: 'Which city?' }]);
    client.runTools({ set_theme: 'dark' });
    expect((await client.resolve({ city: 'Lisbon' })).outcome).toBe('success');
    expect(client.texts()).toEqual(['dark\nLisbon it is']);
  });

  test('on other surfaces it is a form that says what is waited for', async () => {
    const { threadId, client } = await begin();
    const { body } = await setup.alice.request('GET', `/run/v1/conversations/${threadId}/elicitations`);
    const [question] = (body as { items: { elicitationId: string }[] }).items;
    expect(question).toMatchObject({
      mode: 'form',
      message: 'Browser waits for the page to run “set theme”. If the page is no longer open, decline this.',
      context: { trigger: 'frontend_tool', toolName: 'set_theme' },
    });
    const answer = { conversationId: threadId, elicitationId: question?.elicitationId ?? '' };
    expect((await setup.alice.answer({ ...answer, action: 'decline' })).status).toBe(200);
    await client.run();
    expect(client.texts()[0]).toContain('The user declined this call of set_theme');
    const read = await setup.alice.request('GET', `/run/v1/conversations/${threadId}`);
    expect(JSON.stringify(read.body)).not.toContain('Changes the theme');
  });

  test('definitions and results stay out of the history of the workflow', async () => {
    const { client, threadId } = await begin();
    client.runTools({ set_theme: 'canary-result' });
    await client.run();
    expect(client.texts()).toEqual(['canary-result']);
    const [turn] = (
      await service.storage.turns.list(
        { tenant: 'demo', user: 'alice' },
        { conversation: threadId },
        { after: null, limit: 1 },
      )
    ).rows;
    const { events } = await setup.temporal.client.workflow
      .getHandle(turnWorkflowId({ tenant: 'demo', conversation: threadId, turnId: turn?.turnId ?? '' }))
      .fetchHistory();
    const payloads = JSON.stringify(events, (key, value: unknown) =>
      key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
    );
    expect(payloads).toContain('set_theme');
    expect(payloads).not.toMatch(/canary-result|Changes the theme|"dark"/);
  });

  test.each<[what: string, tools: object[], pointer: string]>([
    ['a name of a tool of a server', [{ name: 'asking__ask' }], '/tools/0/name'],
    ['the name of a tool of ours', [{ name: 'ask_user' }], '/tools/0/name'],
    ['a name that no model takes', [{ name: 'set theme' }], '/tools/0/name'],
    ['a name twice', [{ name: 'a' }, { name: 'a' }], '/tools/1/name'],
    ['a schema of no object', [{ name: 'a', parameters: { type: 'string' } }], '/tools/0/parameters/type'],
    ['a deep schema', [{ name: 'a', parameters: nested(17) }], '/tools/0/parameters'],
    ['too much', [{ name: 'a', parameters: { title: 'x'.repeat(32_000) } }], '/tools'],
  ])('%s is refused', async (_what, given, pointer) => {
    const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
    const body = { threadId: randomUUID(), messages, tools: given };
    const refused = await post(service, body, { agent: 'browser' });
    expect([refused.status, refused.problem.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('a service has no front end', async () => {
    const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
    const body = { threadId: randomUUID(), runId: 'r1', messages, tools };
    const caller = await service.asService();
    const refused = await caller.request('POST', '/run/agents/browser/ag-ui', body);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/tools' }] } });
  });
});

function nested(levels: number): object {
  return levels === 0 ? {} : { properties: nested(levels - 1) };
}

test('an agent says what it can do', async () => {
  const { status, body } = await setup.alice.request('GET', '/run/agents/lead/ag-ui/capabilities');
  expect(status).toBe(200);
  expect(AgentCapabilitiesSchema.parse(body)).toMatchObject({
    identity: { name: 'Lead' },
    multiAgent: { supported: true, subagents: [{ name: 'assistant' }, { name: 'researcher' }] },
    tools: { clientProvided: false },
    humanInTheLoop: { interrupts: true, approvals: true },
  });
});

test('what the page shows is for the model to look things up in; forwardedProps and unknown members are not read', async () => {
  const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
  const threadId = randomUUID();
  const unread = { forwardedProps: { canary: 'forwarded' }, unknown: 'canary' };
  await post(service, { threadId, messages, context: [{ description: 'Order', value: '4711' }], ...unread });
  const [stored] = await service.storage.messages.list({ tenant: 'demo', conversation: threadId });
  expect(JSON.stringify(stored)).toContain('4711');
  expect(JSON.stringify(stored)).not.toContain('canary');
});
