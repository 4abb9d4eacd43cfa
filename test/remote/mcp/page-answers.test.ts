/** A page in place of an answer: from a gateway that wants a sign-in, or from a tool that broke after it had begun. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../../demo/listen.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import { serverConfig } from '../../servers/mcp-server.ts';

const account = {
  kind: 'credential',
  headers: { authorization: 'Bearer x' },
  version: 1,
  tokenId: 'x',
} as const;

/** Of the old era, with sessions. `pages`: which methods are answered with a page from the second call on. */
async function startServer(pages: 'tools/call' | 'all') {
  let calls = 0;
  const http = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => answer(request.method ?? '', body, response));
  });
  function answer(verb: string, body: string, response: ServerResponse) {
    if (verb !== 'POST') return response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (method === 'tools/call') calls++;
    if (calls > 1 && (pages === 'all' || method === 'tools/call'))
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Sign in</title>');
    if (id === undefined) return response.writeHead(202).end();
    const result = results[method];
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 's1' };
    if (!result) {
      const error = { code: -32601, message: 'Method not found' };
      return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }
  const listening = await listen(http, 0, 'none');
  onTestFinished(() => listening.stop());
  return {
    config: serverConfig(`http://127.0.0.1:${listening.port}/mcp`, { timeout: 5_000 }),
    calls: () => calls,
  };
}

const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'pages', version: '1' },
  },
  'tools/list': { tools: [{ name: 'book', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

async function callTwice(pages: 'tools/call' | 'all') {
  const { config, calls } = await startServer(pages);
  const remote = openRemoteServers();
  onTestFinished(() => remote.close());
  const call = (callId: string) =>
    remote.callTool(config, account, {
      name: 'book',
      arguments: {},
      callId,
      owner: 'alice',
      signal: new AbortController().signal,
    });
  expect(await call('c1')).toMatchObject({ kind: 'result' });
  return { outcome: await call('c2'), calls: calls() };
}

test('of a tool that may have run leaves its outcome unknown, and the call is not made again', async () => {
  expect(await callTwice('tools/call')).toMatchObject({ outcome: { kind: 'unknown' }, calls: 2 });
});

test('that every request gets refuses the account', async () => {
  expect(await callTwice('all')).toMatchObject({ outcome: { kind: 'refused', status: 200 }, calls: 2 });
});
