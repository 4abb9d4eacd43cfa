/** An agent that calls itself through MCP, through a relay: it ends where tasks are handed on too often. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { useService } from '../service/use-service.ts';
import type { UsedService } from '../service/use-service.ts';
import { connectClient } from './mcp-client.ts';

const agents = fileURLToPath(new URL('../fixtures/circle-agents.yaml', import.meta.url));

/** All calls are made as Alice. */
const relay = createServer((incoming, outgoing) => {
  void used.service.token('alice').then((token) => {
    const { hostname, port } = new URL(used.service.baseUrl);
    const headers = { ...incoming.headers, host: `${hostname}:${port}`, authorization: `Bearer ${token}` };
    const passed = request(
      { hostname, port, path: '/run/v1/mcp', method: incoming.method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      },
    );
    // Sessions are ended when the service behind it is gone.
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
    outgoing.once('close', () => passed.destroy());
  });
});
await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => relay.close(resolve).closeAllConnections()));

const { port } = relay.address() as AddressInfo;
const used: UsedService = useService({
  env: {
    INTERLUDE_CONFIG: agents,
    SELF_URL: `http://127.0.0.1:${port}/mcp`,
    DELEGATION_MAX_DEPTH: '2',
  },
});

test('the last one is told that it has to do the task itself', async () => {
  await using client = await connectClient(used.service);
  const result = await client.callTool({ name: 'ask_assistant', arguments: { message: 'ask yourself' } });
  const { text } = result.structuredContent as { text: string };
  expect(text).toContain('agents may hand a task on 2 times at most');
  expect(text.match(/I was told/g)).toHaveLength(2);
});
