/** What is looked at while questions are open: whose news get through, and what is not looked at. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentTurnWorkflow } from '../../src/workflows/messages.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { openAskedCalls } from './asked-calls.ts';

const agentsFile = path.join(import.meta.dirname, '../fixtures/polling-agents.yaml');
const temporal = useDevelopmentServer();

async function listening(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer({}, listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A workflow that is open and that nobody works on: what it is told is in its history. */
async function openWorkflow() {
  const workflowId = randomUUID();
  const handle = await temporal.client.workflow.start(agentTurnWorkflow, {
    workflowId,
    taskQueue: randomUUID(),
  });
  onTestFinished(async () => void (await handle.terminate()));
  const signals = async () =>
    ((await handle.fetchHistory()).events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
    );
  return { workflowId, signals };
}

test(
  'a server that answers nobody, with any number of questions open, keeps no news of another one',
  {
    timeout: 90_000,
  },
  async () => {
    let held = 0;
    const silent = await listening(() => void held++);
    const forgetful = await listening((_, response) => void response.writeHead(404).end());
    await using calls = await openAskedCalls(temporal.connection, agentsFile, {
      SILENT_URL: silent,
      OTHER_URL: forgetful,
    });
    for (let count = 0; count < 400; count++) await calls.ask('silent');
    await expect.poll(() => held, { timeout: 20_000 }).toBeGreaterThan(100);
    const { workflowId, signals } = await openWorkflow();
    await calls.ask('other', workflowId);
    await expect.poll(signals, { timeout: 20_000 }).toContain('serverNews');
    expect(held, 'at once').toBeLessThan(256);
  },
);

test('what is settled is not looked at', async () => {
  const seen: string[] = [];
  const other = await listening((request, response) => {
    seen.push(request.headers['mcp-session-id'] as string);
    response.writeHead(503).end();
  });
  await using calls = await openAskedCalls(temporal.connection, agentsFile, {
    SILENT_URL: other,
    OTHER_URL: other,
  });
  const id = await calls.ask('other');
  await calls.storage.elicitations.settle(id, 'decline', null);
  const before = seen.length;
  await calls.ask('silent');
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(before + 1);
});
