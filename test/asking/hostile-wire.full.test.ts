/** Invalid answers: each call ends in bounded time, and its error names the server and what it did. */
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { form, raw, startUnrelatedServer } from '../servers/hostile-server.ts';
import type { Trick } from '../servers/hostile-server.ts';
import { answer, sendEvent, startStream } from '../servers/raw-mcp-server.ts';
import { callTool, useHostileService } from '../service/hostile-call.ts';

const done = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
const json = { 'content-type': 'application/json' };

/** Writes until the client stops reading. */
const dripping =
  (type: string, piece: string, everyMs: number): Trick =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type });
    const timer = setInterval(() => response.write(piece), everyMs);
    response.once('close', () => clearInterval(timer));
  };

/** As fast as it is read. */
const pouring =
  (type: string, before: string, piece: string): Trick =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type }).write(before);
    const chunk = piece.repeat(Math.ceil(65_536 / piece.length));
    const pour = () => {
      if (response.destroyed) return;
      if (response.write(chunk)) setImmediate(pour);
      else response.once('drain', pour);
    };
    pour();
  };

const events =
  (...messages: ((id: unknown) => object)[]): Trick =>
  ({ id }, response) => {
    startStream(response);
    for (const message of messages) sendEvent(response, message(id));
    response.end();
  };

const zipped = gzipSync(`{"x":"${' '.repeat(200 * 1024 * 1024)}"}`);

const noAnswer = /ended the connection before it had answered/;
const unreadable = /answered in a form that cannot be read/;
const notMcp = /did not answer like an MCP server/;
const noMessage = /answered tools\/call with a message that cannot be read/;
const tooLarge = /sent an answer larger than 10 MB/;
const tooSlow = /did not answer within 1\.5 s/;

const elsewhere = await startUnrelatedServer();

/** By the name under which the server is called, the fault that the error names, and the trick. */
const faults: Record<string, [server: 'hostile' | 'hasty', fault: RegExp, trick: Trick]> = {
  silence: ['hasty', tooSlow, () => undefined],
  silent_stream: ['hasty', tooSlow, (_, response) => startStream(response)],
  a_byte_a_second: ['hasty', tooSlow, dripping('application/json', '{', 1_000)],
  a_comment_at_times: ['hasty', tooSlow, dripping('text/event-stream', ': still here\n\n', 200)],
  progress_for_ever: [
    'hasty',
    tooSlow,
    (message, response, call) => {
      const progressToken = message.params?._meta?.['progressToken'] ?? 1;
      const notification = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      };
      return dripping('text/event-stream', `data: ${JSON.stringify(notification)}\n\n`, 50)(
        message,
        response,
        call,
      );
    },
  ],

  stream_without_answer: ['hostile', noAnswer, events()],
  stream_half_closed: [
    'hostile',
    noAnswer,
    (_, response) => {
      startStream(response);
      response.write('event: message\ndata: {"jsonrpc":"2.0",');
      response.socket?.end();
    },
  ],
  stream_reset: [
    'hostile',
    noAnswer,
    (_, response) => {
      startStream(response);
      response.write(': hello\n\n', () => response.socket?.resetAndDestroy());
    },
  ],
  json_cut_off: [
    'hostile',
    noAnswer,
    (_, response) => {
      response
        .writeHead(200, { ...json, 'content-length': '1000' })
        .write('{"jsonrpc":"2.0","id":', () => response.socket?.end());
    },
  ],
  json_half: [
    'hostile',
    noMessage,
    (_, response) => void response.writeHead(200, json).end('{"jsonrpc":"2.0","id":'),
  ],
  empty_body: ['hostile', noMessage, (_, response) => void response.writeHead(200, json).end()],
  web_page: [
    'hostile',
    notMcp,
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
  ],

  result_without_end: [
    'hostile',
    tooLarge,
    pouring('application/json', '{"jsonrpc":"2.0","result":{"content":[', '{"type":"text","text":"more"},'),
  ],
  stream_without_end: ['hostile', tooLarge, pouring('text/event-stream', '', ': more\n\n')],
  event_without_end: ['hostile', tooLarge, pouring('text/event-stream', 'data: {"a":"', 'more ')],
  gzip_bomb: [
    'hostile',
    tooLarge,
    (_, response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(zipped),
  ],
  gzip_garbage: [
    'hostile',
    noAnswer,
    (_, response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('no gzip'),
  ],

  id_of_another: ['hostile', noAnswer, events((id) => ({ id: Number(id) + 1, result: done }))],
  id_null: ['hostile', noAnswer, events(() => ({ id: null, result: done }))],
  id_of_another_json: [
    'hostile',
    noMessage,
    (message, response) => answer({ ...message, id: 4711 }, response, done),
  ],
  our_id_in_a_question: ['hostile', noAnswer, events((id) => ({ id, ...form() }))],
  result_and_error: [
    'hostile',
    noAnswer,
    events((id) => ({ id, result: done, error: { code: -32602, message: 'no' } })),
  ],

  unknown_kind: ['hostile', unreadable, raw('"result":{"resultType":"telepathy","content":[]}')],
  kind_array: ['hostile', unreadable, raw('"result":{"resultType":["input_required"],"content":[]}')],
  task_unasked: [
    'hostile',
    unreadable,
    raw('"result":{"resultType":"task","taskId":"1","status":"working"}'),
  ],
  error_text: ['hostile', noMessage, raw('"error":"no"')],

  redirect_loop: [
    'hostile',
    /redirect/,
    (_, response) => void response.writeHead(307, { location: '/mcp' }).end(),
  ],
  redirect_elsewhere: [
    'hostile',
    /redirect/,
    (_, response) => void response.writeHead(307, { location: elsewhere.url }).end(),
  ],
  redirect_to_file: [
    'hostile',
    /redirect/,
    (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  ],
};

afterAll(() => elsewhere.stop());
const { server, alice } = useHostileService({
  era: 'modern',
  tricks: Object.fromEntries(Object.entries(faults).map(([name, [, , trick]]) => [name, trick])),
});

test.each(Object.entries(faults))(
  '%s ends the call, and is called by its name',
  async (tool, [name, fault]) => {
    const { error, asked } = await callTool(alice, tool, { server: name });
    expect(error).toMatch(/Hostile \(127\.0\.0\.1:\d+\)/);
    expect(error).toMatch(fault);
    expect(asked).toEqual([]);
    // Redirects within the server are followed, a few of them.
    expect(server.calls(tool)).toHaveLength(tool === 'redirect_loop' ? 6 : 1);
    expect(elsewhere.requests).toBe(0);
  },
);

test('no connection to the server is left open', async () => {
  await expect.poll(server.connections).toBe(0);
});
