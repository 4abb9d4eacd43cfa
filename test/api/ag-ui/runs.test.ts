/** Stock clients of AG-UI run our agents: text, tools, each kind of question, and what becomes of a turn that waits. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { png } from '../../images.ts';
import { asks, done, form, page } from '../../servers/scripted-mcp-server.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { cancelled, connect, post, versions } from './stock-client.ts';

const tools = ['ask', 'remove'].map((name) => ({ name, inputSchema: { type: 'object' } }));
/** Makes the log unreadable. */
let isLogBroken = false;
const setup = useAskingService({
  tools,
  around: ({ turnLog, ...storage }) => ({
    ...storage,
    turnLog: {
      ...turnLog,
      follow(...given) {
        if (isLogBroken) throw new Error('the log is broken');
        return turnLog.follow(...given);
      },
    },
  }),
  env: { INTERLUDE_CONFIG: path.join(import.meta.dirname, '../../fixtures/ag-ui-agents.yaml') },
});
const { service } = setup;

/** The client of 1.0 warns of everything that it does not understand. */
const warned = vi.spyOn(console, 'warn');
afterEach(() => {
  expect(warned.mock.calls).toEqual([]);
  warned.mockClear();
});

const call = 'call asking__ask {}';
const named = { city: { type: 'string', minLength: 2 } };
const askCity = () => asks({ city: form('Which city?', named) });
const askBoth = () =>
  asks({ city: form('Which city?', named), day: form('Which day?', { day: { type: 'string' } }) });
const answers = () => setup.server.calls.at(-1)?.params.inputResponses;

describe.each(versions)('the client %s', (version) => {
  test('gets an answer as a text, and goes on in its thread', async () => {
    const client = await connect(service, { version });
    const first = await client.run('hello');
    expect(first.types).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      ...first.types.filter((type) => type === 'TEXT_MESSAGE_CONTENT'),
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(first.outcome).toBe('success');
    expect(first.events.at(-1)).toMatchObject({ usage: [{ totalTokens: expect.any(Number) }] });
    const second = await client.run('and again');
    expect(second.types).not.toContain('MESSAGES_SNAPSHOT');
    expect(client.texts()).toEqual(['You said: hello', 'You said: and again']);
  });

  test('sees a tool call with its arguments and its result', async () => {
    setup.server.play(done('It is sunny.'));
    const client = await connect(service, { version });
    await client.run('call asking__ask {"city":"Rome"}');
    const [, asked, result] = client.agent.messages;
    expect(asked).toMatchObject({
      toolCalls: [{ function: { name: 'asking__ask', arguments: '{"city":"Rome"}' } }],
    });
    expect(result).toMatchObject({ role: 'tool', content: 'It is sunny.' });
    expect(client.texts()).toEqual(['It is sunny.']);
  });

  test('is asked for a form by an interrupt, and the next run goes on with the answer', async () => {
    setup.server.play(askCity());
    const client = await connect(service, { version });
    const asked = await client.run(call);
    expect(asked.outcome).toBe('interrupt');
    const [interrupt] = asked.interrupts;
    const { toolCalls } = client.agent.messages.at(-1) as { toolCalls: { id: string }[] };
    expect(interrupt).toMatchObject({
      reason: 'mcp_elicitation',
      message: 'Which city?',
      toolCallId: toolCalls[0]?.id,
      responseSchema: { type: 'object', properties: named },
      metadata: { interlude: { mode: 'form', expiresAt: expect.any(String) } },
    });
    expect(interrupt?.expiresAt === undefined).toBe(version === '0.0.59');
    const again = await client.resolve({ city: 'L' });
    expect(again.outcome).toBe('interrupt');
    expect(again.interrupts[0]).toMatchObject({
      id: interrupt?.id,
      metadata: { interlude: { errors: expect.stringContaining('at least 2 characters') } },
    });
    const end = await client.resolve({ city: 'Lisbon' });
    expect(end.types).not.toContain('MESSAGES_SNAPSHOT');
    expect(end.types).toContain('TOOL_CALL_RESULT');
    expect([end.outcome, client.texts()]).toEqual(['success', ['done']]);
    expect(answers()).toEqual({ city: { action: 'accept', content: { city: 'Lisbon' } } });
  });

  test('answers several questions in one run', async () => {
    setup.server.play(askBoth());
    const client = await connect(service, { version });
    const { interrupts } = await client.run(call);
    expect(interrupts).toHaveLength(2);
    const payloads: Record<string, object> = {
      'Which city?': { city: 'Lisbon' },
      'Which day?': { action: 'decline' },
    };
    const resume = interrupts.map(({ id, message = '' }) => {
      return { interruptId: id, status: 'resolved' as const, payload: payloads[message] };
    });
    expect((await client.run(undefined, { resume })).outcome).toBe('success');
    expect(answers()).toEqual({
      city: { action: 'accept', content: { city: 'Lisbon' } },
      day: { action: 'decline' },
    });
  });

  test('closes a question without an answer', async () => {
    setup.server.play(askCity());
    const client = await connect(service, { version });
    const { interrupts } = await client.run(call);
    expect((await client.run(undefined, { resume: cancelled(interrupts) })).outcome).toBe('success');
    expect(answers()).toEqual({ city: { action: 'cancel' } });
  });

  test.each([
    ['once', { approved: true }, 1, 1],
    ['for the conversation', { approved: true, remember: 'conversation' }, 1, 0],
    ['not, with a reason', { approved: false, reason: 'too early' }, 0, 1],
  ])('approves a call %s', async (_how, payload, sent, askedAgain) => {
    setup.server.play(done('removed'));
    const client = await connect(service, { version });
    const asked = await client.run('call asking__remove {"issue":7}');
    expect(asked.interrupts[0]).toMatchObject({
      reason: 'approval',
      responseSchema: { required: ['approved'] },
      metadata: { interlude: { context: { arguments: JSON.stringify({ issue: 7 }, null, 2) } } },
    });
    expect((await client.resolve(payload)).outcome).toBe('success');
    expect(setup.server.calls).toHaveLength(sent);
    const result = client.agent.messages.findLast(({ role }) => role === 'tool');
    if (sent === 0) expect(result?.content).toContain('too early');
    const next = await client.run('call asking__remove {"issue":8}');
    expect(next.interrupts).toHaveLength(askedAgain);
    if (askedAgain > 0) await client.run(undefined, { resume: cancelled(next.interrupts) });
  });

  test('opens a link: the run waits until its page is done', async () => {
    setup.server.play(asks({ there: page('https://example.com/a') }));
    const client = await connect(service, { version });
    const { interrupts } = await client.run(call);
    expect(interrupts[0]?.responseSchema).toBeUndefined();
    expect(interrupts[0]).toMatchObject({ metadata: { interlude: { url: 'https://example.com/a' } } });
    expect((await client.resolve()).outcome).toBe('success');
    expect(answers()).toEqual({ there: { action: 'accept' } });
  });

  test('connects an account: the run goes on by itself once it is connected', async () => {
    const client = await connect(service, { version });
    const { interrupts } = await client.run('list my open issues');
    const { url } = (interrupts[0]?.metadata?.['interlude'] ?? {}) as { url: string };
    expect(interrupts[0]).toMatchObject({ reason: 'credential_required' });
    const going = client.resolve();
    await connectAccount('alice', url);
    expect((await going).outcome).toBe('success');
    expect(client.texts().at(-1)).toContain('Checkout');
    await setup.alice.request('DELETE', '/run/v1/connections/tracker');
  });

  test('sees a delegate as a subagent, and its question with it', async () => {
    setup.server.play(askCity());
    const client = await connect(service, { version, agent: 'lead' });
    const asked = await client.run(`ask the assistant to ${call}`);
    const [interrupt] = asked.interrupts;
    const started = asked.events.find(({ type }) => type === 'SUBAGENT_STARTED');
    expect(started).toMatchObject({ name: 'assistant', subagentRunId: interrupt?.subagentRunId });
    expect(asked.events.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({
      outcome: { type: 'suspended', interruptIds: [interrupt?.id] },
    });
    const end = await client.resolve({ city: 'Lisbon' });
    expect(end.types).not.toContain('MESSAGES_SNAPSHOT');
    expect(end.outcome).toBe('success');
    expect(client.texts().at(-1)).toBe('I was told: done');
  });

  test('whose stream is cut runs the thread again, and has everything once', async () => {
    const client = await connect(service, { version });
    const cut = await client.run('a rather long answer', { cutAt: 'TEXT_MESSAGE_CONTENT' });
    expect(cut.types).not.toContain('RUN_FINISHED');
    expect((await client.run()).outcome).toBe('success');
    expect(client.texts()).toEqual(['You said: a rather long answer']);
  });

  test('who says something else instead of an answer begins a new turn; the question is closed', async () => {
    setup.server.play(askCity());
    const client = await connect(service, { version });
    const { interrupts } = await client.run(call);
    client.agent.addMessage({ id: randomUUID(), role: 'user', content: 'hello' });
    const next = await client.run(undefined, { resume: cancelled(interrupts) });
    expect(next.outcome).toBe('success');
    expect(client.texts()).toEqual(['You said: hello']);
    const [question] = await service.storage.elicitations.ofConversation({
      tenant: 'demo',
      conversation: client.threadId,
    });
    expect(question).toMatchObject({ id: interrupts[0]?.id, status: 'cancel' });
    expect(setup.server.calls).toHaveLength(1);
  });

  test('whose turn is cancelled elsewhere does not read that it succeeded', async () => {
    setup.server.play(askCity());
    const client = await connect(service, { version });
    const { interrupts } = await client.run(call);
    await setup.alice.cancel(client.threadId);
    await expect
      .poll(async () => (await setup.alice.cancel(client.threadId)).body)
      .toMatchObject({ status: 'idle' });
    const late = await client.run(undefined, { resume: cancelled(interrupts) });
    expect(late.outcome).toBe(version === '1.0.0' ? 'cancelled' : 'RUN_ERROR');
  });
});

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
      if (pointer !== null) expect(refused.problem.errors[0].pointer).toBe(pointer);
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
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { threadId, interrupts } = await ask(askCity());
    setup.server.play(({ id }, response) => {
      void held.then(() =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: done() })),
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
    ['tools of the page', { tools: [{ name: 'alert', description: '' }] }, '/tools'],
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
  });
});

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

test('what the page shows is for the model to look things up in', async () => {
  const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
  const threadId = randomUUID();
  await post(service, { threadId, messages, context: [{ description: 'Order', value: '4711' }] });
  const [stored] = await service.storage.messages.list({ tenant: 'demo', conversation: threadId });
  expect(JSON.stringify(stored)).toContain('4711');
});
