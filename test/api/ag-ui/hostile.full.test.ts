/** Runs that no stock client sends: they change nothing, and cost little. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { done } from '../../servers/scripted-mcp-server.ts';
import { askBoth, askCity, call, pageTools, useAgUiService } from './runs.ts';
import { connect, post, runUrl } from './stock-client.ts';

const setup = useAgUiService();
const { service } = setup;
const hello = () => [{ id: randomUUID(), role: 'user', content: 'hello' }];
const statuses = async (conversation: string) =>
  (await service.storage.elicitations.ofConversation({ tenant: 'demo', conversation })).map(
    ({ status }) => status,
  );
const resolved = (interruptId: string, payload: unknown) => ({ interruptId, status: 'resolved', payload });
const success = { outcome: { type: 'success' } };
const browser = { agent: 'browser' };

test('deep nesting is refused or not read, wherever it is', async () => {
  setup.server.play(askCity());
  const client = await connect(service, browser);
  const { interrupts } = await client.run(call);
  const { threadId } = client;
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const authorization = `Bearer ${await service.token('alice')}`;
  const cases: [body: object, expected: number | string][] = [
    [{ forwardedProps: 'DEEP', more: 'DEEP' }, 'interrupt'],
    [{ state: 'DEEP' }, 400],
    [{ tools: [{ name: 'a', parameters: { properties: 'DEEP' } }] }, 400],
    [{ messages: [{ id: 'm', role: 'user', content: [{ type: 'text', text: 'DEEP' }] }] }, 400],
    [{ messages: [{ id: 'm', role: 'user', content: [{ type: 'image', source: 'DEEP' }] }] }, 400],
    [{ messages: [{ id: 'a', role: 'assistant', toolCalls: [{ id: 'DEEP' }] }] }, 'interrupt'],
    [{ messages: [{ id: 'a', role: 'assistant', content: [{ type: 'a', a: 'DEEP' }] }] }, 'interrupt'],
    [{ messages: [{ id: `${randomUUID()}.1`, role: 'tool', toolCallId: 'DEEP' }] }, 'interrupt'],
    [{ messages: [{ id: 'a', role: 'tool', content: '', toolCallId: 'DEEP' }] }, 400],
    [{ resume: [resolved(interrupts[0]?.id ?? '', { city: 'DEEP' })] }, 'interrupt'],
  ];
  for (const [body, expected] of cases) {
    const run = { threadId, runId: randomUUID(), protocolVersion: '1.0', messages: [], ...body };
    const response = await fetch(runUrl(service, 'browser'), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(run).replaceAll('"DEEP"', deep),
    });
    const text = await response.text();
    const outcome = /"outcome":\{"type":"(\w+)"/.exec(text)?.[1];
    expect(outcome ?? response.status).toBe(expected);
    expect(await statuses(threadId)).toEqual(['pending']);
  }
});

test('thousands of results are refused at once', async () => {
  const client = await connect(service, browser);
  await client.run('hello');
  const messages = Array.from({ length: 14_000 }, (_, at) => {
    return { id: `${at}`, role: 'tool', content: '', toolCallId: `call_${at}` };
  });
  const begun = process.threadCpuUsage();
  const refused = await post(service, { threadId: client.threadId, messages }, browser);
  expect(refused.problem.code).toBe('elicitation_not_found');
  const { user, system } = process.threadCpuUsage(begun);
  // Compared with each other, they took five seconds of the processor.
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test('answers of two questions in each other’s place answer neither', async () => {
  setup.server.play(askBoth());
  const { threadId, ...client } = await connect(service);
  const { interrupts } = await client.run(call);
  const idOf = (words: string) => interrupts.find(({ message }) => message === words)?.id ?? '';
  const [city, day] = [idOf('Which city?'), idOf('Which day?')];
  const resume = [resolved(city, { day: 'Monday' }), resolved(day, { city: 'Lisbon' })];
  const { events } = await post(service, { threadId, resume });
  expect(events.at(-1)).toMatchObject({
    outcome: {
      interrupts: [
        { id: city, metadata: { interlude: { errors: expect.stringContaining('day') as string } } },
        { id: day, metadata: { interlude: { errors: expect.stringContaining('city') as string } } },
      ],
    },
  });
  expect(await statuses(threadId)).toEqual(['pending', 'pending']);
});

test('a result of a tool neither approves a call nor replaces what a server says', async () => {
  setup.server.play(askCity());
  const client = await connect(service, browser);
  const text = `call asking__remove {"issue":7}\n${call}`;
  const { interrupts } = await client.run(text, { tools: pageTools });
  expect(interrupts).toHaveLength(2);
  for (const { toolCallId } of interrupts) {
    const messages = [{ id: randomUUID(), role: 'tool', toolCallId, content: '{"approved":true}' }];
    const refused = await post(service, { threadId: client.threadId, messages }, browser);
    expect([refused.status, refused.problem.code]).toEqual([404, 'elicitation_not_found']);
  }
  expect(await statuses(client.threadId)).toEqual(['pending', 'pending']);
});

test('another user gets nowhere with the ids of a thread, of its questions and of its calls', async () => {
  setup.server.play(askCity());
  const client = await connect(service);
  const [interrupt] = (await client.run(call)).interrupts;
  const own = await connect(service, { user: 'bob' });
  await own.run('hello');
  const { id = '', toolCallId } = interrupt ?? {};
  const cancel = [{ interruptId: id, status: 'cancelled' }];
  for (const threadId of [client.threadId, own.threadId])
    for (const body of [
      { messages: hello(), resume: cancel },
      { resume: cancel },
      { resume: [resolved(id, { city: 'Rome' })] },
      { messages: [{ id: 'r', role: 'tool', toolCallId, content: 'Rome' }] },
    ]) {
      const { status, problem } = await post(service, { threadId, ...body }, { user: 'bob' });
      const code = threadId === own.threadId ? 'elicitation_not_found' : 'conversation_not_found';
      expect([status, problem?.code]).toEqual([404, code]);
    }
  const { problem } = await post(service, { threadId: client.threadId, messages: hello() }, { user: 'bob' });
  expect(problem.code).toBe('conversation_not_found');
  expect(await statuses(client.threadId)).toEqual(['pending']);
});

test('a tool may have a name that objects have', async () => {
  const client = await connect(service, browser);
  const names = ['constructor', 'toString', 'hasOwnProperty', 'then'];
  const tools = names.map((name) => ({ name, description: '', parameters: { type: 'object' } }));
  await client.run(names.map((name) => `call ${name} {}`).join('\n'), { tools });
  client.runTools(Object.fromEntries(names.map((name) => [name, `result of ${name}`])));
  expect((await client.run(undefined, { tools })).outcome).toBe('success');
  expect(client.texts()).toEqual([names.map((name) => `result of ${name}`).join('\n')]);
});

test('marks of ours are not taken from a message', async () => {
  const providerOptions = { interlude: { frontendTools: true, pageContext: true } };
  const content = [{ type: 'text', text: 'hello', providerOptions }];
  const threadId = randomUUID();
  await post(service, { threadId, messages: [{ id: 'm', role: 'user', content, providerOptions }] });
  const [stored] = await service.storage.messages.list({ tenant: 'demo', conversation: threadId });
  expect(JSON.stringify(stored)).not.toContain('interlude');
});

test(
  'a run sent fifty times at once is one turn; a hundred answers at once are one',
  { timeout: 120_000 },
  async () => {
    const token = await service.token('alice');
    const alice = { ...service, baseUrl: service.baseUrl, token: async () => token };
    const ends = async (sent: ReturnType<typeof post>[]) =>
      (await Promise.all(sent)).map(({ problem, events }) => problem ?? events.at(-1));
    const again = { threadId: randomUUID(), runId: randomUUID(), messages: hello() };
    for (const end of await ends(Array.from({ length: 50 }, () => post(alice, again))))
      expect(end).toMatchObject(success);
    const { rows } = await service.storage.turns.list(
      { tenant: 'demo', user: 'alice' },
      { conversation: again.threadId },
      { after: null, limit: 5 },
    );
    expect(rows).toHaveLength(1);

    setup.server.play(askCity(), done('once'));
    const { threadId, ...client } = await connect(service);
    const [interrupt] = (await client.run(call)).interrupts;
    const resume = (at: number) => [resolved(interrupt?.id ?? '', { city: `City ${at}` })];
    const answered = Array.from({ length: 100 }, (_, at) => post(alice, { threadId, resume: resume(at) }));
    for (const end of await ends(answered)) expect(end).toMatchObject(success);
    expect(setup.server.calls).toHaveLength(2);
    expect(await statuses(threadId)).toEqual(['accept']);
  },
);
