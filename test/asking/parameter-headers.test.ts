/** A whole turn against a server that wants an argument in a header: the schema comes from the catalogue. */
import { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startDevelopmentServer } from '../development-server.ts';
import { startMcpServer } from '../servers/mcp-server.ts';
import { callOf, startAsking } from '../service/asking.ts';

test('a turn sends an argument as a header where its tool asks for it, with the first request', async () => {
  await using stack = new AsyncDisposableStack();
  const temporal = await startDevelopmentServer();
  stack.defer(() => temporal.stop());
  const server = await startMcpServer({
    era: 'modern',
    build: () => {
      const built = new McpServer({ name: 'peer', version: '1' });
      const inputSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) });
      built.registerTool('query', { inputSchema }, ({ region }) => ({
        content: [{ type: 'text', text: `asked in ${region}` }],
      }));
      return built;
    },
  });
  stack.defer(() => server.stop());
  const service = await startAsking({ temporal, url: server.config.url });
  stack.defer(() => service.stop());

  const alice = await service.as('alice');
  const stream = await alice.chat(callOf(['query', { region: 'north' }]));
  expect(JSON.stringify(await stream.finished())).toContain('asked in north');
  const sent = server.requests.filter(({ method }) => method === 'tools/call');
  expect(sent).toEqual([
    expect.objectContaining({ headers: expect.objectContaining({ 'mcp-param-region': 'north' }) }),
  ]);
});
