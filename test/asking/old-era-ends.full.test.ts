/** How questions of the old era end when it is not an answer that ends them. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createEventStore } from '../servers/event-store.ts';
import { startPushingServer } from '../servers/pushing-server.ts';
import type { PushingServer } from '../servers/pushing-server.ts';
import type { Chunk } from '../service/chat-stream.ts';
import { callOf, nthQuestion, questionsIn, respond, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { Caller } from '../service/user.ts';

const temporal = useDevelopmentServer();
let server: PushingServer;
let service: Service;
let alice: Caller;

afterEach(async () => {
  await service.stop();
  await server.stop();
});

async function start(
  options: Parameters<typeof startPushingServer>[0],
  env: Record<string, string> = {},
): Promise<void> {
  server = await startPushingServer(options);
  service = await startAsking({ temporal, url: server.config.url, env });
  alice = await service.as('alice');
}
const accept = { action: 'accept', content: { colour: 'red' } };
const errorsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));

const eras = [
  { era: 'held', store: () => ({}) },
  { era: 'left alone', store: () => ({ eventStore: createEventStore() }) },
];

describe.each(eras)('a question that is $era', ({ store }) => {
  test(
    'closes as expired when its server does not wait any longer, and a late answer is told so',
    { timeout: 120_000 },
    async () => {
      await start({ ...store(), answerTimeoutMs: 5_000 });
      const conversation = randomUUID();
      const stream = await alice.chat(callOf(['impatient']), { conversation });
      const question = await nthQuestion(stream, 0);
      await server.saw('gave up');
      const chunks = await stream.finished();
      expect(questionsIn(stream)).toMatchObject([{ status: 'expired', because: 'server_gave_up' }]);
      expect(errorsIn(chunks)).toEqual(['the server gave up']);
      const late = await respond(alice, conversation, question, accept);
      expect(late).toMatchObject({ status: 410, body: { code: 'expired' } });
      expect(late.body['detail']).toContain('did not wait');
    },
  );

  test('stays open while the server hears that somebody is thinking', async () => {
    await start({ ...store(), answerTimeoutMs: 20_000 });
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['listening']), { conversation });
    const question = await nthQuestion(stream, 0);
    await server.saw('progress');
    expect(await respond(alice, conversation, question, accept)).toMatchObject({ status: 200 });
    await stream.finished();
    expect(stream.text()).toBe('answered accept');
  });

  test('that nobody answers in time is a cancel for its server, and for the model what it was', async () => {
    await start(store(), { ELICITATION_TIMEOUT: '2s' });
    const stream = await alice.chat(callOf(['watched']), { conversation: randomUUID() });
    await stream.finished();
    expect(questionsIn(stream)).toMatchObject([{ status: 'expired' }]);
    expect(stream.text()).toMatch(/^cancel\nAsking asked the user .* nobody answered before it expired/);
  });

  test('is closed by a cancelled turn, and the server hears that nobody waits', async () => {
    await start(store());
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['watched']), { conversation });
    await nthQuestion(stream, 0);
    await alice.cancel(conversation);
    await server.saw('cancelled');
    await stream.finished();
    expect(questionsIn(stream)).toMatchObject([{ status: 'cancel' }]);
  });

  test('is closed by a new message, which is answered', async () => {
    await start(store());
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['watched']), { conversation });
    await nthQuestion(stream, 0);
    const next = await alice.chat('hello', { conversation });
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    await server.saw('cancelled');
    await stream.finished();
    expect(questionsIn(stream)).toMatchObject([{ status: 'cancel' }]);
  });

  test('is closed with the reason when its server dies', async () => {
    await start(store());
    const stream = await alice.chat(callOf(['watched']));
    await nthQuestion(stream, 0);
    await server.stop();
    const chunks = await stream.finished();
    expect(questionsIn(stream)).toMatchObject([{ status: 'cancel', because: 'server_gone' }]);
    expect(errorsIn(chunks)[0]).toContain('unknown whether the action took place');
  });

  test('that was declined, or dismissed, reaches the server as just that', async () => {
    await start(store());
    for (const action of ['decline', 'cancel']) {
      const conversation = randomUUID();
      const stream = await alice.chat(callOf(['impatient']), { conversation });
      await respond(alice, conversation, await nthQuestion(stream, 0), { action });
      await stream.finished();
      expect(stream.text()).toBe(`answered ${action}`);
    }
  });
});

describe('a call that is refused until a page is done', () => {
  test('is made again when the user says so', async () => {
    await start({});
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['gate']), { conversation });
    const question = await nthQuestion(stream, 0);
    expect(question).toMatchObject({
      mode: 'url',
      url: 'https://pages.example/waiver',
      message: 'Sign the waiver',
    });
    await respond(alice, conversation, question, { action: 'accept' });
    const again = await nthQuestion(stream, 1);
    expect(again.url).toBe(question.url);
    await server.finishPage();
    await respond(alice, conversation, again, { action: 'accept' });
    await stream.finished();
    expect(stream.text()).toBe('entered');
  });

  test('goes on by itself when the server says that the page is done', async () => {
    await start({ eventStore: createEventStore() });
    const stream = await alice.chat(callOf(['gate']));
    await nthQuestion(stream, 0);
    await server.listenedSinceCall();
    await server.finishPage();
    await stream.finished();
    expect(stream.text()).toBe('entered');
    expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  });

  test('is not made again when the user would rather not', async () => {
    await start({});
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['gate']), { conversation });
    await respond(alice, conversation, await nthQuestion(stream, 0), { action: 'decline' });
    const chunks = await stream.finished();
    expect(errorsIn(chunks)[0]).toMatch(/chose not to\. The tool did not run/);
    expect(server.seen).toEqual([]);
  });
});
