/** Texts that change while they are shown: streams that grow old, and words that become void. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { Reply } from '../../servers/openai-server.ts';
import type { Fault } from '../../servers/slack/chat.ts';
import { createAnswers } from './answers.ts';
import { useSlackService } from './slack-service.ts';

let reply: () => Reply;
const model = await createOpenAIServer({ reply: () => reply() });
afterAll(() => model.stop());
const setup = await useSlackService({
  env: {
    INTERLUDE_CONFIG: new URL('../../fixtures/slack-agents.yaml', import.meta.url).pathname,
    MODEL_URL: model.baseURL,
  },
});
const { slack, chat, acme } = setup;
const { ask } = createAnswers(setup);
acme.addUser('U1');
beforeAll(() => setup.link('U1', 'alice'));
afterEach(() => {
  vi.useRealTimers();
  chat.fault = () => undefined;
  slack.calls.length = 0;
});

const started = () => slack.until(({ method }) => method === 'chat.startStream');

test('a stream is ended before Slack ends it, and the text goes on in the next message', async () => {
  async function* slowly() {
    yield 'One two three.\n\n';
    await started();
    vi.setSystemTime(Date.now() + 4 * 60_000 + 1_000);
    yield 'Four five six.';
  }
  reply = () => ({ kind: 'text', chunks: slowly() });
  const { ts, result } = await ask('tell me');
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts).map((text) => text.trim())).toEqual(['One two three.', 'Four five six.']);
  const [stopped] = slack.calls.filter(({ method }) => method === 'chat.stopStream');
  expect(stopped?.args['ts']).toBe(chat.thread('C1', ts)[0]?.ts);
  expect(chat.thread('C1', ts).every(({ streamedSince }) => streamedSince === null)).toBe(true);
});

test('a link whose label hides its address is none while it is streamed, and shows its host when it is complete', async () => {
  async function* inPieces() {
    yield 'See [your bank]';
    await started();
    yield '(https://evil.example/x) now.';
  }
  reply = () => ({ kind: 'text', chunks: inPieces() });
  const { ts, result } = await ask('tell me');
  expect(result).toEqual({ status: 'delivered' });
  const streamed = slack.calls
    .map(({ args }) => args['markdown_text'])
    .filter((text) => typeof text === 'string')
    .join('');
  expect(streamed).toBe('See [your bank]\u2060(https://evil.example/x) now.');
  expect(chat.texts('C1', ts)).toEqual(['See <https://evil.example/x|your bank> (evil.example) now.']);
});

test('words of a model call that broke off are taken back, and what it says then is there once', async () => {
  let calls = 0;
  async function* brokenOff() {
    yield 'Words that are void.';
    await started();
    throw new Error('the connection breaks');
  }
  reply = () => {
    calls += 1;
    return { kind: 'text', chunks: calls === 1 ? brokenOff() : ['Words that count.'] };
  };
  const { ts, result } = await ask('tell me');
  expect(calls).toBe(2);
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts)).toEqual(['Words that count.']);
});

test('words of an earlier step stay when a later model call was repeated and the thread is looked at anew', async () => {
  let calls = 0;
  async function* brokenOff() {
    yield 'Words that are void.';
    await slack.until(({ args }) => JSON.stringify(args).includes('Words that are void.'));
    throw new Error('the connection breaks');
  }
  reply = () => {
    calls += 1;
    if (calls === 1)
      return { kind: 'tool-calls', say: 'Words before.', calls: [{ name: 'nobody__has', arguments: '{}' }] };
    return { kind: 'text', chunks: calls === 2 ? brokenOff() : ['Words that count.'] };
  };
  const faults: Fault[] = [{ kind: 'limited', seconds: 1 }];
  chat.fault = ({ args }) =>
    JSON.stringify(args).includes('Words that count.') ? faults.shift() : undefined;
  const { ts, result } = await ask('tell me');
  expect([calls, faults]).toEqual([3, []]);
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts).map((text) => text.trim())).toEqual(['Words before.\n\nWords that count.']);
});
