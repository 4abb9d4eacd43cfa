/** Hostile servers of the old era, which push what they want while the call hangs. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { form, page, raw } from '../servers/hostile-server.ts';
import type { Trick } from '../servers/hostile-server.ts';
import { answerError, sendEvent, startStream } from '../servers/raw-mcp-server.ts';
import { nthQuestion, questionsIn } from '../service/asking.ts';
import { callTool, useHostileService } from '../service/hostile-call.ts';

const done = { content: [{ type: 'text', text: 'done' }] };

/** Says it all, and then keeps the call open. */
const says =
  (...messages: object[]): Trick =>
  (_, response) => {
    startStream(response);
    for (const message of messages) sendEvent(response, message);
  };

/** Says it, waits for the answers to its requests, and is done. */
const wants =
  (toSay: (id: unknown) => object[], answers: string[] = []): Trick =>
  async ({ id }, response, call) => {
    startStream(response);
    for (const message of toSay(id)) sendEvent(response, message);
    await Promise.all((answers.length > 0 ? answers : [Number(id)]).map((one) => call.answerTo(one)));
    sendEvent(response, { id: id ?? 0, result: done });
    response.end();
  };

const oneAfterTheOther =
  (question: (n: number) => object): Trick =>
  async (_, response, call) => {
    startStream(response);
    for (let n = 0; !response.destroyed; n++) {
      const id = randomUUID();
      sendEvent(response, { id, ...question(n) });
      await call.answerTo(id);
    }
  };

const pagesRequired = (...elicitations: object[]) =>
  raw(`"error":${JSON.stringify({ code: -32042, message: 'no', data: { elicitations } })}`);

const nested = { type: 'object', properties: { a: { type: 'object' } } };
const trap = { toString: 1, valueOf: 1 };

const name = String.raw`Hostile \(127\.0\.0\.1:\d+\)`;
const refused = (why: string) =>
  new RegExp(`^${name} asked for something that could not be put to the user: .*${why}`);
const keptAsking = /^Hostile kept asking: it was given 5 rounds of answers/;
const samePage = /^Hostile sent the user to the same page 3 times/;
const tooSlow = new RegExp(`${name} did not answer within 1\\.5 s`);
const noAnswer = new RegExp(`${name} ended the connection before it had answered`);
const noError = /^$/;

/** What the error says, how many questions people see, and what the server does. */
const tricks: Record<string, [error: RegExp, asked: number, trick: Trick]> = {
  question_after_question: [keptAsking, 5, oneAfterTheOther(() => form())],
  page_after_page: [keptAsking, 5, oneAfterTheOther((n) => page(`https://pay.example/${n}`))],
  same_page_for_ever: [samePage, 3, oneAfterTheOther(() => page('https://pay.example/'))],
  thousand_questions_at_once: [
    refused('more than 20 questions at once'),
    0,
    says(...Array.from({ length: 1_000 }, (_, id) => ({ id, ...form({ message: `Question ${id}` }) }))),
  ],
  question_with_id_of_the_call: [noError, 1, wants((id) => [{ id, ...form() }])],
  same_id_twice: [
    noError,
    1,
    wants(
      () => [
        { id: 'a', ...form() },
        { id: 'a', ...form({ message: 'Second?' }) },
      ],
      ['a'],
    ),
  ],
  sampling: [
    noError,
    0,
    wants(() => [{ id: 's', method: 'sampling/createMessage', params: { messages: [] } }], ['s']),
  ],
  roots: [noError, 0, wants(() => [{ id: 'r', method: 'roots/list' }], ['r'])],
  unheard_of_request: [noError, 0, wants(() => [{ id: 'u', method: 'bank/transfer' }], ['u'])],
  nested_form: [refused('a form is flat'), 0, says({ id: 1, ...form({ requestedSchema: nested }) })],
  link_with_script: [refused('http or https'), 0, says({ id: 1, ...page('javascript:alert(1)') })],
  link_with_password: [refused('password'), 0, says({ id: 1, ...page('https://me:secret@bank.example/') })],
  message_of_1mb: [refused('too long'), 0, says({ id: 1, ...form({ message: 'x'.repeat(1_000_000) }) })],
  question_without_params: [refused('malformed'), 0, says({ id: 1, method: 'elicitation/create' })],
  question_with_long_id: [refused('id of its question'), 0, says({ id: 'x'.repeat(100_000), ...form() })],
  list_of_params: [refused('malformed'), 0, says({ id: 1, method: 'elicitation/create', params: [] })],
  hasty_question_without_id: [tooSlow, 0, says(form())],
  odd_notifications: [
    noError,
    1,
    wants(
      (id) => [
        { method: 'notifications/cancelled', params: { requestId: trap } },
        { method: 'notifications/cancelled', params: { requestId: id } },
        { method: 'notifications/elicitation/complete', params: { elicitationId: trap } },
        { method: 'notifications/elicitation/complete' },
        { method: 'notifications/progress', params: { progressToken: trap, progress: 'x' } },
        { id: 'q', ...form() },
      ],
      ['q'],
    ),
  ],
  hasty_silence_after_the_answer: [
    tooSlow,
    1,
    async (_, response, call) => {
      startStream(response);
      sendEvent(response, { id: 'q', ...form() });
      await call.answerTo('q');
    },
  ],
  flood_of_pings: [
    refused('more than 300 requests'),
    0,
    (_, response) => {
      startStream(response);
      response.write('data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n'.repeat(20_000));
    },
  ],
  thousand_pages_required: [
    refused('does not say which'),
    0,
    pagesRequired(...Array.from({ length: 1_000 }, (_, n) => ({ ...page(`https://p.example/${n}`).params }))),
  ],
  script_required: [refused('http or https'), 0, pagesRequired(page('javascript:alert(1)').params)],
  pages_without_names: [
    refused('does not say which'),
    0,
    (message, response) => answerError(message, response, -32042, 'Open a page'),
  ],
  same_page_required_for_ever: [samePage, 3, pagesRequired(page('https://p.example/').params)],
};

let answered = false;
/** What happens in these depends on what people do meanwhile. */
const others: Record<string, Trick> = {
  good_form: wants(() => [{ id: 'f', ...form() }], ['f']),
  good_link: wants(() => [{ id: 'l', ...page('https://pay.example/') }], ['l']),
  breaks_off: (_, response) => {
    startStream(response);
    sendEvent(response, { id: 'q', ...form() });
    breakOff = () => response.destroy();
  },
  goes_on_after_cancel: async ({ id }, response) => {
    startStream(response);
    sendEvent(response, { id: 'q', ...form() });
    const isCancelled = () =>
      server.messages.some(
        ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === id,
      );
    while (!isCancelled()) await sleep(10);
    sendEvent(response, { id: 'late', ...form({ message: 'And now?' }) });
    sendEvent(response, { id: id ?? 0, result: done });
    response.end();
    answered = true;
  },
};
let breakOff = () => {};

const all = Object.fromEntries(Object.entries(tricks).map(([tool, [, , trick]]) => [tool, trick]));
const { server, alice } = useHostileService({
  era: 'legacy',
  tricks: { ...all, ...others },
});

const openIn = async (conversation: string) => {
  const { body } = await alice.request(
    'GET',
    `/run/v1/conversations/${conversation}/elicitations?status=pending`,
  );
  return body['items'];
};
/** Ids of the calls whose end the server was notified of. */
const cancelled = () =>
  server.messages
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => params?.requestId);

test.each(Object.entries(tricks))('%s', async (tool, [expected, count]) => {
  const { error, asked, conversation } = await callTool(alice, tool, {
    server: tool.startsWith('hasty') ? 'hasty' : 'hostile',
  });
  expect(error).toMatch(expected);
  expect(error).not.toContain('secret');
  expect(asked).toHaveLength(count);
  expect(await openIn(conversation)).toEqual([]);
  const [call] = server.calls(tool);
  const isAnswered = expected === noError || tool.includes('required') || tool.startsWith('pages_');
  const toBeTold = isAnswered ? [] : [call?.id];
  const untold = () => toBeTold.filter((id) => !cancelled().includes(id));
  await expect.poll(untold).toEqual([]);
});

test('what was never offered is refused by the protocol, and the call goes on', async () => {
  for (const id of ['s', 'r', 'u']) {
    const answer = server.messages.find((message) => message.method === 'response' && message.id === id);
    expect(answer?.error?.code).toBe(-32601);
  }
});

test.each([
  ['url', 'good_form'],
  ['form', 'good_link'],
])(
  'whoever can show only a %s is not asked otherwise (%s), and a server that copes with that has answered',
  async (supports, tool) => {
    const { error, asked } = await callTool(alice, tool, { supports });
    expect(error).toBe('');
    expect(asked).toEqual([]);
    const answer = server.messages.find(
      (message) => message.method === 'response' && message.id === tool.at(5),
    );
    expect(answer?.error?.code).toBe(-32602);
  },
);

test('a connection that breaks while people think closes their question, and the call is not repeated', async () => {
  const stream = await alice.chat('call hostile__breaks_off {}');
  await nthQuestion(stream, 0);
  breakOff();
  await stream.finished();
  expect(questionsIn(stream)).toMatchObject([{ status: 'cancel', because: 'server_gone' }]);
  expect(stream.chunks).toContainEqual(
    expect.objectContaining({ type: 'tool-output-error', errorText: expect.stringMatching(noAnswer) }),
  );
  expect(server.calls('breaks_off')).toHaveLength(1);
});

test('a server that goes on asking after the turn was cancelled reaches nobody', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat('call hostile__goes_on_after_cancel {}', { conversation });
  await nthQuestion(stream, 0);
  await alice.cancel(conversation);
  await stream.finished();
  await expect.poll(() => answered).toBe(true);
  expect(questionsIn(stream)).toMatchObject([{ status: 'cancel' }]);
  const next = await alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  expect(await openIn(conversation)).toEqual([]);
  expect(JSON.stringify(next.chunks)).not.toContain('And now?');
});

test('no connection to the server is left open', async () => {
  await expect.poll(server.connections).toBe(0);
});
