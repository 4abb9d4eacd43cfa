/** Servers of the old era whose stream breaks off with a question, to be taken up again: they make use of that, too. */
import type { ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { form, page, startUnrelatedServer } from '../servers/hostile-server.ts';
import type { Trick } from '../servers/hostile-server.ts';
import { sendEvent, startStream } from '../servers/raw-mcp-server.ts';
import { callTool, useHostileService } from '../service/hostile-call.ts';

const done = { content: [{ type: 'text', text: 'done' }] };
const name = String.raw`Hostile \(127\.0\.0\.1:\d+\)`;
const refused = (why: string) =>
  new RegExp(`^${name} asked for something that could not be put to the user: .*${why}`);
const keptAsking = /^Hostile kept asking: it was given 5 rounds of answers/;
const tooSlow = new RegExp(`${name} did not answer within 1\\.5 s`);
const unknown = new RegExp(`${name} .*it is unknown whether the action took place`);
const noError = /^$/;

const elsewhere = await startUnrelatedServer();

type Resumed = (response: ServerResponse, says: (message: object) => void, id: number) => void;

const replays =
  (...messages: ((id: number) => object)[]): Resumed =>
  (response, says, id) => {
    startStream(response);
    for (const message of messages) says(message(id));
  };
const status =
  (code: number, headers: Record<string, string> = {}): Resumed =>
  (response) =>
    void response.writeHead(code, headers).end('<h1>Hi</h1>');

const question = { id: 'q', ...form() };
const result = (id: number) => ({ id, result: done });

/** What the error says, how many questions people see, and what comes when the stream is taken up again. */
const cases: Record<string, [error: RegExp, asked: number, resumed: Resumed]> = {
  fine: [noError, 1, replays(result)],
  replayed_question: [noError, 1, replays(() => question, result)],
  question_after_question: [keptAsking, 5, replays(() => ({ id: randomUUID(), ...form() }))],
  thousand_more: [
    refused('more than 20 questions at once'),
    1,
    replays(...Array.from({ length: 1_000 }, (_, n) => () => ({ id: `more-${n}`, ...form() }))),
  ],
  flood_of_pings: [
    noError,
    1,
    replays(...Array.from({ length: 5_000 }, (_, n) => () => ({ id: n, method: 'ping' })), result),
  ],
  script_later: [
    refused('http or https'),
    1,
    replays(() => ({ id: 'later', ...page('javascript:alert(1)') })),
  ],
  hasty_silence: [tooSlow, 1, replays()],
  hasty_result_for_another: [tooSlow, 1, replays((id) => result(id + 1))],
  hasty_same_question_for_ever: [tooSlow, 1, replays(() => question)],
  hasty_ends_at_once: [tooSlow, 1, (response) => (startStream(response), response.end())],
  hasty_odd_events: [
    tooSlow,
    1,
    (response) => {
      startStream(response);
      response.write('id: \u0000\ndata: {\n\nretry: 0\n\ndata: null\n\ndata: []\n\nevent: x\ndata: 5\n\n');
    },
  ],
  no_such_stream: [unknown, 1, status(404)],
  busy_for_ever: [unknown, 1, status(503)],
  web_page: [unknown, 1, status(200, { 'content-type': 'text/html' })],
  redirected: [unknown, 1, status(307, { location: elsewhere.url })],
};

/** Asks, and says under which id its stream may be taken up again. */
const leaves =
  (tool: string): Trick =>
  ({ id }, response) => {
    startStream(response);
    sendEvent(
      response,
      { method: 'notifications/progress', params: { progressToken: 0, progress: 0 } },
      `${tool}/${id}/0`,
    );
    sendEvent(response, question, `${tool}/${id}/1`);
  };

const thousand: Trick = ({ id }, response) => {
  startStream(response);
  for (let n = 0; n < 1_000; n++) sendEvent(response, { id: n, ...form() }, `thousand_at_once/${id}/${n}`);
};

afterAll(() => elsewhere.stop());
const { server, alice } = useHostileService({
  era: 'legacy',
  tricks: {
    ...Object.fromEntries(Object.keys(cases).map((tool) => [tool, leaves(tool)])),
    thousand_at_once: thousand,
  },
  resumed: (from, response) => {
    const [tool = '', id] = from.split('/');
    let n = 2;
    const says = (message: object) => sendEvent(response, message, `${tool}/${id}/${n++}`);
    cases[tool]?.[2](response, says, Number(id));
  },
});

test.each(Object.entries(cases))('%s', async (tool, [expected, count]) => {
  const { error, asked, conversation } = await callTool(alice, tool, {
    server: tool.startsWith('hasty') ? 'hasty' : 'hostile',
  });
  expect(error).toMatch(expected);
  expect(asked).toHaveLength(count);
  expect(server.calls(tool)).toHaveLength(1);
  expect(elsewhere.requests).toBe(0);
  const path = `/run/v1/conversations/${conversation}/elicitations?status=pending`;
  expect((await alice.request('GET', path)).body['items']).toEqual([]);
});

test('a thousand questions at once are put to nobody', async () => {
  const { error, asked } = await callTool(alice, 'thousand_at_once');
  expect(error).toMatch(refused('more than 20 questions at once'));
  expect(asked).toEqual([]);
});

test('no connection to the server is left open', async () => {
  await expect.poll(server.connections).toBe(0);
});
