/**
 * Whole turns through the real API, worker, database, identity provider and MCP server; only the clock is
 * Temporal's test clock, which stands still until a test moves it.
 */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import type { Chunk } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { createFreshServices } from '../service/fresh-services.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { idOf } from './waiting.ts';

let environment: TestWorkflowEnvironment;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());

function start(around?: (storage: Storage) => Storage, env: Record<string, string> = {}): Promise<Service> {
  const temporal = temporalOf(environment);
  return startService({ temporal, env, ...(around && { around }) });
}
const services = createFreshServices(() => start());
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(async () => {
  service = await services.take();
});
afterEach(() => services.giveBack(service));

/** Lets a test see the moment between a question's row and the workflow's wait, and hold it. */
async function startWith(
  change: (elicitations: Storage['elicitations']) => Partial<Storage['elicitations']>,
): Promise<void> {
  service = await start((storage) => ({
    ...storage,
    elicitations: { ...storage.elicitations, ...change(storage.elicitations) },
  }));
}

/** The tools are known, the account is not connected: what a second user of a tenant meets. */
async function withKnownTools(): Promise<void> {
  const bob = await service.as('bob');
  const stream = await bob.chat('list my open issues');
  await connectAccount('bob', (await stream.question('pending')).url);
  await stream.finished();
}

const errorsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));
const questionsIn = (chunks: Chunk[]) => chunks.filter(({ type }) => type === 'data-elicitation-request');

describe("a tool needs the user's account", () => {
  test('the turn waits, the user connects, and the answer goes on in the same stream', async () => {
    const alice = await service.as('alice');
    const stream = await alice.chat('list my open issues');
    const question = await stream.question('pending');
    expect(question).toMatchObject({
      mode: 'url',
      url: `${service.baseUrl}/auth/connect?e=${question.elicitationId}`,
      context: {
        trigger: 'credential_required',
        server: 'tracker',
        serverTitle: 'Tracker',
        reason: 'missing',
      },
    });
    expect(service.tracker.requests).toBe(0);

    await connectAccount('alice', question.url);
    const chunks = await stream.finished();
    expect(questionsIn(chunks).map(({ data }) => (data as { status: string }).status)).toEqual([
      'pending',
      'accept',
    ]);
    expect(stream.text()).toContain('Here they are');
    expect(errorsIn(chunks)).toEqual([]);
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  test.each([
    ['decline', 'chose not to'],
    ['cancel', 'dismissed the question'],
  ])('%s ends the wait, and the model reads other words than for any other end', async (action, words) => {
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId } = await stream.question('pending');
    const reply = await alice.answer({ conversationId: conversation, elicitationId, action });
    expect(reply).toEqual({ status: 200, body: { elicitationId, status: action, duplicate: false } });
    await stream.question(action);
    expect(errorsIn(await stream.finished())[0]).toContain(words);
    expect(service.tracker.requests).toBe(0);
  });

  test('an answer that arrives before the wait begins counts', async () => {
    const opened = Promise.withResolvers<string>();
    const answered = Promise.withResolvers<void>();
    await startWith(({ open }) => ({
      async open(questions, limits) {
        const result = await open(questions, limits);
        opened.resolve(questions[0]?.id ?? '');
        await answered.promise;
        return result;
      },
    }));
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const elicitationId = await opened.promise;
    const reply = await alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
    expect(reply).toMatchObject({ status: 200, body: { status: 'decline' } });
    answered.resolve();
    await stream.question('decline');
    await stream.finished();
  });

  test('the first answer wins, the same again gets the same receipt, and another is refused', async () => {
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId } = await stream.question('pending');
    const answer = (action: string) => alice.answer({ conversationId: conversation, elicitationId, action });
    const receipt = { status: 200, body: { elicitationId, status: 'decline', duplicate: false } };
    expect(await answer('decline')).toEqual(receipt);
    expect(await answer('accept')).toMatchObject({
      status: 409,
      body: { code: 'already_answered', outcome: 'decline' },
    });
    await stream.finished();
    expect(await answer('decline')).toEqual({ ...receipt, body: { ...receipt.body, duplicate: true } });
    expect(await answer('cancel')).toMatchObject({ status: 409 });
  });

  test('of two different answers at once, one is recorded and the other is refused with its outcome', async () => {
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId } = await stream.question('pending');
    const replies = await Promise.all(
      ['decline', 'cancel'].map((action) =>
        alice.answer({ conversationId: conversation, elicitationId, action }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const winner = replies.find(({ status }) => status === 200)?.body['status'];
    expect(replies.find(({ status }) => status === 409)?.body['outcome']).toBe(winner);
    await stream.question(String(winner));
  });

  test('accept before the account is there keeps waiting, and the fact resumes the turn', async () => {
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId, url } = await stream.question('pending');
    const accept = () => alice.answer({ conversationId: conversation, elicitationId, action: 'accept' });
    expect(await accept()).toEqual({
      status: 202,
      body: { elicitationId, status: 'pending', awaiting: 'connection' },
    });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
    await connectAccount('alice', url);
    await stream.question('accept');
    await stream.finished();
    expect(await accept()).toMatchObject({ status: 200, body: { status: 'accept', duplicate: true } });
  });

  test('two calls to one server ask one question, and both go on', async () => {
    await withKnownTools();
    const alice = await service.as('alice');
    const stream = await alice.chat('list open and closed');
    const { url } = await stream.question('pending');
    await connectAccount('alice', url);
    const chunks = await stream.finished();
    expect(questionsIn(chunks)).toHaveLength(2);
    expect(chunks.filter(({ type }) => type === 'tool-output-available')).toHaveLength(2);
    expect(stream.text()).toContain('Both: 2');
  });

  test("one connection resolves the questions of all the user's conversations", async () => {
    const alice = await service.as('alice');
    const [one, two] = await Promise.all([
      alice.chat('list my open issues'),
      alice.chat('list my closed issues'),
    ]);
    await two.question('pending');
    await connectAccount('alice', (await one.question('pending')).url);
    await Promise.all([one.finished(), two.finished()]);
    expect(one.text()).toContain('Here they are');
    expect(two.text()).toContain('Here they are');
  });

  test('an account that is written by a process that dies at once resumes the turn', async () => {
    const alice = await service.as('alice');
    const stream = await alice.chat('list my open issues');
    await stream.question('pending');
    const connection = { store: 'oauth', account: null, scopes: [], sealed: 'unreadable', freshUntil: null };
    await service.storage.connections.establish(
      { tenant: 'demo', server: 'tracker', user: 'alice' },
      connection,
    );
    await stream.question('accept');
  });
});

describe('who may answer', () => {
  test('a user cannot answer for another one', async () => {
    const [alice, bob, robot] = await Promise.all([
      service.as('alice'),
      service.as('bob'),
      service.asService(),
    ]);
    const conversation = randomUUID();
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId } = await stream.question('pending');
    const body = { conversationId: conversation, elicitationId, action: 'accept' };
    expect(await bob.answer(body)).toMatchObject({ status: 403, body: { code: 'not_your_question' } });
    expect(await robot.answer(body)).toMatchObject({ status: 403 });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
    const audit = await service.storage.audit.ofElicitation(elicitationId);
    expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
      ['bob', 'refused'],
      [null, 'refused'],
    ]);
    expect(await bob.request('GET', `/run/v1/conversations/${conversation}/elicitations`)).toMatchObject({
      status: 404,
    });
  });
});

describe('when nobody can be asked', () => {
  test('a caller that cannot show a question gets the tool error at once, and no question is opened', async () => {
    const alice = await service.as('alice');
    const stream = await alice.chat('list my open issues', { supports: null });
    const chunks = await stream.finished();
    expect(errorsIn(chunks)[0]).toContain('nobody was asked');
    expect(questionsIn(chunks)).toEqual([]);
  });

  test('a service has no account of its own, and is told so at once', async () => {
    const robot = await service.asService();
    const stream = await robot.chat('list my open issues');
    expect(errorsIn(await stream.finished())[0]).toContain('the caller is a service');
  });

  test('too many open questions: the tool fails with those words', async () => {
    service = await start(undefined, { ELICITATION_MAX_OPEN: '1' });
    const alice = await service.as('alice');
    const first = await alice.chat('list my open issues');
    await first.question('pending');
    const second = await alice.chat('list my open issues');
    expect(errorsIn(await second.finished())[0]).toContain('too many open questions');
  });
});

describe('the turn', () => {
  test('stops after the configured number of steps and says so', async () => {
    await withKnownTools();
    const bob = await service.as('bob');
    const stream = await bob.chat('go round in circles');
    const chunks = await stream.finished();
    expect(chunks.filter(({ type }) => type === 'start-step')).toHaveLength(6);
    expect(chunks.find(({ type }) => type === 'error')?.['errorText']).toContain('6 steps');
  });

  test('history holds ids and decisions, and no word of what was said, done or sent', async () => {
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat('create an issue called Zanzibar', { conversation });
    await connectAccount('alice', (await stream.question('pending')).url);
    await stream.finished();
    const handle = environment.client.workflow.getHandle(idOf({ conversation, stream }));
    const history = JSON.stringify(await handle.fetchHistory(), (key, value: unknown) =>
      key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
    );
    expect(history).toContain('tracker__create_issue');
    const row = await service.storage.connections.get({ tenant: 'demo', server: 'tracker', user: 'alice' });
    for (const secret of ['Zanzibar', 'Created', 'Bearer', row?.sealed ?? 'sealed'])
      expect(history).not.toContain(secret);
  });
});
