/** How long a program that answers may take by default: half a minute of real time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { asks, form, startScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import { runTryCommand } from './in-process.ts';

test('a program that says nothing for thirty seconds ends the call', async () => {
  const server = await startScriptedMcpServer();
  server.play(asks({ city: form('Which city?') }));
  const program = createServer(() => undefined);
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
  const { code, errors } = await runTryCommand([server.url, '--tool', 'ask', '--responder', address]);
  program.closeAllConnections();
  program.close();
  await server.stop();
  expect([code, errors]).toEqual([3, expect.stringContaining('did not answer within 30 s')]);
  expect(server.calls).toHaveLength(1);
});
