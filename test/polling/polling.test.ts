/** What is polled while questions are open, and what is not. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAskedCalls } from './asked-calls.ts';

const agentsFile = path.join(import.meta.dirname, '../fixtures/polling-agents.yaml');

async function listening(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer({}, listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test(
  'a server that never answers, with any number of questions open, does not delay the polls of another one',
  {
    timeout: 90_000,
  },
  async () => {
    let held = 0;
    let most = 0;
    const silent = await listening((_, response) => {
      most = Math.max(most, ++held);
      // Each poll is given up at some time, and comes again.
      response.once('close', () => held--);
    });
    const forgetful = await listening((_, response) => void response.writeHead(404).end());
    await using calls = await openAskedCalls(agentsFile, {
      SILENT_URL: silent,
      OTHER_URL: forgetful,
    });
    for (let count = 0; count < 400; count++) await calls.ask('silent');
    await expect.poll(() => most, { timeout: 20_000 }).toBeGreaterThan(100);
    const id = await calls.ask('other');
    const row = () => calls.storage.elicitations.get(id);
    await expect.poll(row, { timeout: 20_000 }).toMatchObject({ because: 'server_gone' });
    expect(most, 'at once').toBeLessThan(256);
  },
);

test('what is settled is not polled', async () => {
  const seen: string[] = [];
  const other = await listening((request, response) => {
    seen.push(request.headers['mcp-session-id'] as string);
    response.writeHead(503).end();
  });
  await using calls = await openAskedCalls(agentsFile, {
    SILENT_URL: other,
    OTHER_URL: other,
  });
  const id = await calls.ask('other');
  await calls.storage.elicitations.settle([id], { type: 'abandoned' });
  const before = seen.length;
  await calls.ask('silent');
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(before + 1);
});
