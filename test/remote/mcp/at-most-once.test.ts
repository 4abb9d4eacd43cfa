/**
 * What becomes of a call that was sent. `unreachable` and `refused` promise that the tool did not run; wherever a
 * server may have begun its work, only `unknown` is true, and nothing is ever sent twice.
 */
import { describe, expect, test } from 'vitest';
import { answer, answerError, startStream } from '../../servers/raw-mcp-server.ts';
import { call, done, peer, status, useOneCall } from './one-call.ts';
import type { Era } from './one-call.ts';

useOneCall();

const eras: Era[] = ['modern', 'legacy'];

describe.each(eras)('a call to a %s server', (era) => {
  test.each([
    ['401', 401, 'refused'],
    ['403', 403, 'refused'],
    ['404', 404, 'unreachable'],
    ['410', 410, 'unreachable'],
    ['429', 429, 'unreachable'],
    ['307 to another place', 307, 'unreachable'],
    ['400', 400, 'rejected'],
    ['413', 413, 'rejected'],
    ['303', 303, 'unknown'],
    ['408', 408, 'unknown'],
    ['500', 500, 'unknown'],
    ['502', 502, 'unknown'],
    ['503', 503, 'unknown'],
    ['202 without an answer', 202, 'unknown'],
    ['204', 204, 'unknown'],
  ] as const)('answered with %s is %3$s', async (_, code, kind) => {
    const location = code >= 300 && code < 400 ? { location: 'http://elsewhere.invalid/mcp' } : undefined;
    const { config, count } = await peer(era, { 'tools/call': status(code, location) });
    const outcome = await call(config);
    expect(outcome.kind).toBe(kind);
    expect(count('tools/call')).toBe(1);
    expect(JSON.stringify(outcome)).not.toContain('s3cret');
    expect(JSON.stringify(outcome)).not.toContain('internals');
  });

  test('carries the server’s challenge when it is refused', async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="issues:write"';
    const { config } = await peer(era, { 'tools/call': status(403, { 'www-authenticate': challenge }) });
    expect(await call(config)).toEqual({ kind: 'refused', status: 403, challenge });
  });

  test.each([
    ['parse error', -32700, 'rejected'],
    ['invalid params', -32602, 'rejected'],
    ['unknown method', -32601, 'rejected'],
    ['internal error', -32603, 'unknown'],
    ['an error of its own', -32050, 'unknown'],
    ['a demand to open a link', -32042, 'unaskable'],
    ['a demand for a capability', -32021, 'unaskable'],
  ] as const)('answered with %s is %3$s', async (words, code, kind) => {
    const { config, count } = await peer(era, {
      'tools/call': (message, response) => answerError(message, response, code, words),
    });
    expect((await call(config)).kind).toBe(kind);
    expect(count('tools/call')).toBe(1);
  });

  test('whose server dies with the call in its hands is unknown', async () => {
    const { config, count } = await peer(era, {
      'tools/call': (_, response) => void response.socket?.destroy(),
    });
    expect((await call(config)).kind).toBe('unknown');
    expect(count('tools/call')).toBe(1);
  });

  test('whose stream ends without an answer is unknown, at once', async () => {
    const { config } = await peer(era, {
      'tools/call': (_, response) => {
        startStream(response);
        response.end(': nothing more to say\n\n');
      },
    });
    expect((await call({ ...config, timeout: 600_000 })).kind).toBe('unknown');
  });

  test('whose stream breaks in the middle is unknown', async () => {
    const { config } = await peer(era, {
      'tools/call': (message, response) => {
        startStream(response);
        response.write(`event: message\ndata: {"jsonrpc":"2.0","id":${message.id},"resu`, () =>
          response.socket?.destroy(),
        );
      },
    });
    expect((await call(config)).kind).toBe('unknown');
  });

  test('whose JSON answer is cut off is unknown', async () => {
    const { config } = await peer(era, {
      'tools/call': (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
        response.write('{"jsonrpc":', () => response.socket?.destroy());
      },
    });
    expect((await call(config)).kind).toBe('unknown');
  });

  test('answered with something else than JSON-RPC is unknown', async () => {
    const { config } = await peer(era, {
      'tools/call': (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>'),
    });
    expect((await call(config)).kind).toBe('unknown');
  });

  test('answered for another request is unknown', async () => {
    const { config } = await peer(era, {
      'tools/call': (message, response) => answer({ ...message, id: 4711 }, response, done),
    });
    expect((await call(config)).kind).toBe('unknown');
  });

  test('answered with an unknown result type is unknown', async () => {
    const { config } = await peer(era, {
      'tools/call': (message, response) => answer(message, response, { resultType: 'task', taskId: 't' }),
    });
    expect((await call(config)).kind).toBe('unknown');
  });

  test('keeps content of a kind that nobody knows yet', async () => {
    const content = [{ type: 'hologram', beams: 3 }];
    const { config } = await peer(era, {
      'tools/call': (message, response) => answer(message, response, { ...done, content }),
    });
    expect(await call(config)).toEqual({ kind: 'result', result: { content } });
  });

  test('that takes too long is unknown, and the server is told to stop', async () => {
    let dropped = false;
    const { config, arrived } = await peer(era, {
      'tools/call': (_, response) => void response.on('close', () => (dropped = true)),
    });
    const outcome = await call({ ...config, timeout: 1_000 });
    expect(outcome).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('did not answer within 1 s'),
    });
    if (era === 'legacy') await arrived('notifications/cancelled');
    await expect.poll(() => dropped).toBe(true);
  });

  test('that is cancelled while it runs is unknown, and the server is told to stop', async () => {
    let dropped = false;
    const { config, arrived } = await peer(era, {
      'tools/call': (_, response) => void response.on('close', () => (dropped = true)),
    });
    const controller = new AbortController();
    const outcome = call(config, controller.signal);
    await arrived('tools/call');
    controller.abort();
    expect(await outcome).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('was cancelled'),
    });
    if (era === 'legacy') await arrived('notifications/cancelled');
    await expect.poll(() => dropped).toBe(true);
  });

  test('that is cancelled before it was sent did not run', async () => {
    const { config, count } = await peer(era, {});
    expect((await call(config, AbortSignal.abort())).kind).toBe('unreachable');
    expect(count('tools/call')).toBe(0);
  });

  test('with an endless answer stops reading', async () => {
    const { config } = await peer(era, {
      'tools/call': (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const megabyte = Buffer.alloc(1024 * 1024, 0x20);
        const pour = () => {
          while (!response.destroyed && response.write(megabyte));
          if (!response.destroyed) response.once('drain', pour);
        };
        pour();
      },
    });
    const outcome = await call(config);
    expect(outcome).toMatchObject({ kind: 'unknown', message: expect.stringContaining('larger than 10 MB') });
  });

  test('follows a redirect within the server that keeps the method', async () => {
    let hops = 0;
    const { config } = await peer(era, {
      'tools/call': (message, response) => {
        if (hops++ === 0) return void response.writeHead(307, { location: '/mcp/v2' }).end();
        answer(message, response, done);
      },
    });
    expect((await call(config)).kind).toBe('result');
    expect(hops).toBe(2);
  });
});
