/** The client's promises, kept by the whole service. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { OnElicitation } from '../src/answer-questions.ts';
import { createClient } from '../src/client.ts';
import type { Client, ClientOptions } from '../src/client.ts';
import type { FeedItem } from '../src/follow.ts';
import type { Part, TurnView } from '../src/turn-view.ts';
import { StreamEventSchema } from '@interlude-ai/core/contract/stream-event.ts';
import { ask, beginTurn, formRequest } from '../../../test/api/api-under-test.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy, TcpProxyOptions } from '../../../test/servers/tcp-proxy.ts';
import { connectAccount } from '../../../test/service/connect-account.ts';
import { createFreshServices } from '../../../test/service/fresh-services.ts';
import { startService } from '../../../test/service/service.ts';
import type { Service } from '../../../test/service/service.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';

const timing = { firstRetryMs: 10, lastRetryMs: 50 };
const listing = 'list my open issues';

const temporal = useDevelopmentServer();
let service: Service;
let stack: AsyncDisposableStack;

const services = createFreshServices(() => startService({ temporal }));
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  service = await services.take();
  stack.defer(() => services.giveBack(service));
});
afterEach(() => stack.disposeAsync());

async function clientOf(options: Partial<ClientOptions> = {}): Promise<Client> {
  const token = await service.token('alice');
  return createClient({ baseUrl: service.baseUrl, token, timing, ...options });
}

async function proxy(plan?: TcpProxyOptions['plan']): Promise<TcpProxy> {
  const port = Number(new URL(service.baseUrl).port);
  const started = await startTcpProxy({ to: port, ...(plan && { plan }) });
  stack.defer(() => started.stop());
  return started;
}

/** Its conversations end with the service. */
async function lastOf(views: AsyncIterable<TurnView>): Promise<TurnView> {
  let last: TurnView | undefined;
  for await (const view of views) {
    service.begun(view.conversationId);
    last = view;
  }
  if (!last) throw new Error('There was nothing to follow.');
  return last;
}

const textOf = ({ parts }: TurnView) =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('');

function only<Kind extends Part['kind']>(kind: Kind, { parts }: TurnView): Extract<Part, { kind: Kind }> {
  const found = parts.find((part): part is Extract<Part, { kind: Kind }> => part.kind === kind);
  if (!found) throw new Error(`No ${kind} in ${JSON.stringify(parts)}`);
  return found;
}

/** Connects the account, as the person would. */
const connect: OnElicitation = async (elicitation) => {
  if (elicitation.mode === 'url') await connectAccount('alice', elicitation.url);
  return undefined;
};

test('a turn without anybody at a screen: the handler connects the account, and the answer goes on', async () => {
  const client = await clientOf({ onElicitation: connect });
  const view = await lastOf(client.start({ message: { text: listing } }));
  expect(view).toMatchObject({ status: 'completed', conversationId: expect.any(String) });
  expect(only('elicitation', view).elicitation).toMatchObject({ status: 'accept', mode: 'url' });
  expect(textOf(view)).toMatch(/^Here they are: #1 /);
  expect(service.tracker.calls).toHaveLength(1);
});

test('a handler that agrees first and connects then', async () => {
  let url = '';
  const onElicitation: OnElicitation = (elicitation) => {
    if (elicitation.mode === 'url') ({ url } = elicitation);
    return { action: 'accept' };
  };
  const client = await clientOf({ onElicitation });
  const reading = lastOf(client.start({ conversationId: randomUUID(), message: { text: listing } }));
  await expect.poll(() => url).not.toBe('');
  await connectAccount('alice', url);
  expect(await reading).toMatchObject({ status: 'completed' });
});

test('a handler that says not now', async () => {
  const client = await clientOf({ onElicitation: () => ({ action: 'decline' }) });
  const view = await lastOf(client.start({ message: { text: listing } }));
  expect(view.status).toBe('completed');
  expect(only('elicitation', view).elicitation.status).toBe('decline');
  expect(only('tool-call', view).state.kind).toBe('failed');
  expect(service.tracker.calls).toEqual([]);
});

test('a question waits for a client that comes later with a handler, and is put once while its line breaks', async () => {
  const conversationId = randomUUID();
  const first = (await clientOf({ capabilities: { url: true, form: true } })).start({
    conversationId,
    message: { text: listing },
  });
  for await (const view of first) if (view.parts.some(({ kind }) => kind === 'elicitation')) break;

  const line = await proxy();
  const asked: string[] = [];
  const client = await clientOf({ baseUrl: line.url });
  const onElicitation: OnElicitation = async ({ elicitationId }) => {
    asked.push(elicitationId);
    for (let times = 0; times < 3; times += 1) {
      const again = line.next();
      line.cut();
      await again;
    }
    return { action: 'decline' };
  };
  const view = await lastOf(client.follow(conversationId, { onElicitation }));
  expect(only('elicitation', view).elicitation.status).toBe('decline');
  expect(asked).toHaveLength(1);
});

test('a form that was filled in wrongly is put again with what the service says is wrong', async () => {
  const turn = await beginTurn(service.storage, randomUUID());
  const properties = { title: { type: 'string', minLength: 3 }, count: { type: 'integer' } };
  const request = formRequest({ type: 'object', properties, required: ['title'] });
  await ask(service.storage, turn, { request, server: null, seenVersion: null });
  const heard: unknown[] = [];
  const client = await clientOf({
    onElicitation(elicitation, { errors }) {
      expect(elicitation).toMatchObject({ mode: 'form', requestedSchema: { properties } });
      heard.push(errors.map(({ pointer }) => pointer));
      const content = heard.length === 1 ? { title: 'x', count: 1.5 } : { title: 'A title', count: 2 };
      return { action: 'accept', content };
    },
  });
  const reading = lastOf(client.follow(turn.conversation));
  // No worker runs this turn, so the valid answer closes the question.
  await expect.poll(() => heard.length).toBe(2);
  await expect
    .poll(async () => (await service.storage.elicitations.ofConversation(turn, 'pending')).length)
    .toBe(0);
  await service.storage.turns.end(turn, 'cancelled');
  expect(await reading).toMatchObject({ status: 'cancelled' });
  expect(heard).toEqual([[], expect.arrayContaining(['/content/title', '/content/count'])]);
});

test('a caller without a handler is told what is missing, beside the tool call', async () => {
  const view = await lastOf((await clientOf()).start({ message: { text: listing } }));
  expect(only('tool-auth-required', view)).toMatchObject({
    id: only('tool-call', view).id,
    notice: {
      server: 'tracker',
      serverTitle: 'Tracker',
      message: expect.stringContaining('Tracker'),
      url: expect.stringMatching(/\/connections$/),
    },
  });
});

test('what was said before goes along into a new conversation', async () => {
  const client = await clientOf();
  const { conversationId, turnId } = await lastOf(
    client.start({
      messages: [
        { role: 'user', text: 'I am Ann.' },
        { role: 'assistant', text: 'Hello, Ann.' },
      ],
      message: { text: 'hello' },
    }),
  );
  const { messages, agent, turn } = await client.conversation(conversationId);
  expect(
    messages.items.map(({ role, parts }) => [role, parts.find(({ type }) => type === 'text')]),
  ).toMatchObject([
    ['user', { text: 'I am Ann.' }],
    ['assistant', { text: 'Hello, Ann.' }],
    ['user', { text: 'hello' }],
    ['assistant', { text: 'You said: hello' }],
  ]);
  expect({ agent, turn, next: messages.next }).toEqual({ agent: 'assistant', turn: null, next: null });
  expect(turnId).toEqual(expect.any(String));
});

test('a message whose first connection is lost right after it was sent makes one turn', async () => {
  const line = await proxy((index) => (index === 0 ? [{ kind: 'cut', at: { bytes: 1 } }] : []));
  // Alice has other conversations.
  const client = await clientOf({ baseUrl: line.url, token: await service.token('bob') });
  const statuses: string[] = [];
  const view = await lastOf(
    client.start({ message: { text: 'hello' } }, { onStatus: (status) => statuses.push(status) }),
  );
  expect(textOf(view)).toBe('You said: hello');
  expect(statuses).toEqual(['reconnecting', 'connected']);
  const { items } = await client.conversations();
  expect(items.map(({ id }) => id)).toEqual([view.conversationId]);
  expect((await client.conversation(view.conversationId)).messages.items).toHaveLength(2);
});

test('a message that comes while the turn waits takes its place, and the old one reads as cancelled', async () => {
  expect.assertions(3);
  const conversationId = randomUUID();
  const client = await clientOf({ capabilities: { url: true, form: true } });
  const waiting = client.start({ conversationId, message: { text: listing } });
  for await (const view of waiting) {
    if (view.parts.every(({ kind }) => kind !== 'elicitation')) continue;
    const next = await lastOf(client.start({ conversationId, message: { text: 'hello' } }));
    expect(textOf(next)).toBe('You said: hello');
    const old = await lastOf(waiting);
    expect(old.status).toBe('cancelled');
    expect(only('elicitation', old).elicitation.status).toBe('cancel');
  }
});

test('a message that cancels a turn at work is answered as soon as that one has stopped', async () => {
  const conversationId = randomUUID();
  const client = await clientOf({ onElicitation: connect });
  await lastOf(client.start({ conversationId, message: { text: listing } }));
  const held = service.tracker.faults.hold('before');
  const working = lastOf(client.start({ conversationId, message: { text: listing } }));
  await held.arrived;
  await expect(lastOf(client.start({ conversationId, message: { text: 'hello' } }))).rejects.toMatchObject({
    status: 409,
    code: 'turn_in_progress',
    turnId: expect.any(String),
  });
  const next = lastOf(client.start({ conversationId, message: { text: 'hello' }, onBusy: 'cancel' }));
  expect(await working).toMatchObject({ status: 'cancelled' });
  held.release();
  expect(textOf(await next)).toBe('You said: hello');
});

test('an idempotency key of one’s own is one turn in every call', async () => {
  const client = await clientOf();
  const message = { message: { id: 'm1', text: 'hello' }, idempotencyKey: randomUUID() };
  const [one, other] = await Promise.all([lastOf(client.start(message)), lastOf(client.start(message))]);
  expect(one.turnId).toBe(other.turnId);
  await expect(
    lastOf(client.start({ ...message, message: { id: 'm1', text: 'bye' } })),
  ).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
});

test('operations say what the turn did, in order', async () => {
  const client = await clientOf({ onElicitation: connect });
  const view = await lastOf(client.start({ message: { text: listing } }, { operations: true }));
  expect(view.operations.map(({ type }) => type)).toEqual([
    'model_step',
    'tool_call',
    'elicitation',
    'elicitation',
    'tool_result',
    'model_step',
    'tool_call',
    'tool_result',
    'model_step',
  ]);
});

test('agents are listed', async () => {
  const agents = await (await clientOf()).agents();
  expect(agents.map(({ id }) => id)).toContain('assistant');
});

/** Until this many turns have ended. */
async function readFeed(
  client: Client,
  conversationId: string,
  turns: number,
  after?: number,
): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  let ended = 0;
  const options = { operations: true, ...(after !== undefined && { after }) };
  for await (const item of client.events(conversationId, options)) {
    items.push(item);
    if (item.event.type === 'turn-ended') ended += 1;
    if (ended === turns) break;
  }
  return items;
}

test('the feed tells two turns as they happen, over a line that is cut again and again, as it tells them later', async () => {
  const conversationId = randomUUID();
  const client = await clientOf({ onElicitation: connect });
  await lastOf(client.start({ conversationId, message: { text: 'hello' } }));

  // Of every connection, a little more gets through.
  const line = await proxy((index) =>
    index < 20 ? [{ kind: 'cut', at: { bytes: 400 + 150 * index } }] : [],
  );
  const live = readFeed(await clientOf({ baseUrl: line.url }), conversationId, 2);
  await lastOf(client.start({ conversationId, message: { text: listing } }));
  const told = await live;
  expect(line.connections.length).toBeGreaterThan(5);

  const later = await readFeed(client, conversationId, 2);
  const others = (items: FeedItem[]) => items.filter(({ event }) => event.type !== 'text-delta');
  const words = (items: FeedItem[]) =>
    items.map(({ event }) => (event.type === 'text-delta' ? event.delta : '')).join('');
  // The deltas of a turn that is over have been merged.
  expect(others(told)).toEqual(others(later));
  expect(words(told)).toBe(words(later));
  expect(told.map(({ seq }) => seq)).toEqual(told.map(({ seq }) => seq).toSorted((a, b) => a - b));
  for (const { event } of told) StreamEventSchema.parse(event);
  for (const { seq } of later.slice(0, -1)) {
    const rest = await readFeed(
      client,
      conversationId,
      later.filter((item) => item.seq > seq && item.event.type === 'turn-ended').length,
      seq,
    );
    expect(others(rest)).toEqual(
      others(later).filter(
        (item) => item.seq > seq || (item.seq === seq && item.event.type === 'data-operation'),
      ),
    );
  }
});

test('questions of two conversations are followed over a line that was away while one was settled', async () => {
  const client = await clientOf({ capabilities: { url: true, form: true } });
  const line = await proxy();
  const questions = (await clientOf({ baseUrl: line.url })).followElicitations();
  const [first, second] = [randomUUID(), randomUUID()];
  const ends = [lastOf(client.start({ conversationId: first, message: { text: listing } }))];
  const asked = await questions.next();
  expect(asked.value).toMatchObject({ conversationId: first, status: 'pending', mode: 'url' });

  line.refuse();
  line.cut();
  const { elicitationId = '' } = asked.value ?? {};
  await client.answer({ conversationId: first, elicitationId, action: 'decline' });
  ends.push(lastOf(client.start({ conversationId: second, message: { text: listing } })));
  await expect.poll(() => client.openElicitations(second)).toHaveLength(1);
  line.accept();
  expect((await questions.next()).value).toEqual({ ...asked.value, status: 'decline' });
  expect((await questions.next()).value).toMatchObject({ conversationId: second, status: 'pending' });
  await questions.return();
  await client.cancel(second);
  expect((await Promise.all(ends)).map(({ status }) => status)).toEqual(['completed', 'cancelled']);
});

test('somebody else’s conversation is not there', async () => {
  const client = await clientOf();
  const { conversationId } = await lastOf(client.start({ message: { text: 'hello' } }));
  const bob = await clientOf({ token: await service.token('bob') });
  const missing = { status: 404, code: 'conversation_not_found' };
  await expect(bob.events(conversationId).next()).rejects.toMatchObject(missing);
  await expect(bob.conversation(conversationId)).rejects.toMatchObject(missing);
  await expect(bob.openElicitations(conversationId)).rejects.toMatchObject(missing);
  expect((await bob.conversations()).items).toEqual([]);
});
