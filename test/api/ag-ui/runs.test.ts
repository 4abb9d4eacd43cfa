/** Stock clients of AG-UI 1.0, and what none of them sends. */
import { randomUUID } from 'node:crypto';
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { png } from '../../images.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';
import { askBoth, askCity, call, named, testRuns, useAgUiService } from './runs.ts';
import { cancelled, connect, post } from './stock-client.ts';

/** Makes the log unreadable. */
let isLogBroken = false;
const logger = createLogger({ level: 'silent', human: false });
const setup = useAgUiService({
  logger: Object.assign(logger, { child: () => logger }),
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
    ['tools of the page', { tools: [{ name: 'alert', description: '' }] }, '/tools'],
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
