/** What is polled while questions are open, and what is not. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCallRounds, toRound } from '../../../src/activities/call-tool/rounds.ts';
import { pollOfRound } from '../../../src/activities/call-tool/server-rounds.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { startPolling } from '../../../src/platform/loops/polling.ts';
import { openDependencies } from '../../../src/platform/processes/dependencies.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';
import { formQuestion, open } from '../../storage/contract/question.ts';

/** Open questions of old-era servers in a database of their own, with the polling loop. */
async function openAskedCalls(agentsFile: string, env = {}) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-polls-'));
  const given = { INTERLUDE_DATA: dataDir, INTERLUDE_CONFIG: agentsFile, ...env };
  const config = loadConfig(given, dataDir);
  const parts = await openDependencies(config, createLogger({ level: 'silent', human: true }));
  const { storage, keys } = parts;
  const rounds = createCallRounds({ storage, keys });
  const loop = startPolling(parts);
  return {
    storage,
    /** A call whose connection is closed while its question is open. Its first poll is due at once. */
    async ask(server: string): Promise<string> {
      const turn = await begunTurn(storage);
      const toolCallId = randomUUID();
      await keptStep(storage, turn, { calls: [{ toolCallId, toolName: 'ask', input: {} }] });
      await storage.toolCalls.start(turn, toolCallId, firstAttempt);
      const call = {
        sessionId: 'session',
        protocolVersion: '2025-11-25',
        callId: 1,
        lastEventId: 'event',
        asked: ['7'],
      };
      const request = { mode: 'form' as const, message: 'Which?', requestedSchema: { type: 'object' } };
      const pause = { questions: [{ key: '7', request }], resume: { kind: 'detached' as const, call } };
      const round = await rounds.keep(turn, toolCallId, [], toRound(pause), firstAttempt);
      const [asked] = round?.questions ?? [];
      const poll = round && pollOfRound({ turn, toolCallId, server, round: 1 }, round);
      if (!asked || !poll) throw new Error('a call of this kind has a poll');
      const waiter = { toolCallId, workflowId: 'turn/1' };
      const id = asked.elicitationId;
      await open(storage, formQuestion(turn, { id, waiter, poll: { ...poll, firstMs: 0 } }));
      return id;
    },
    async [Symbol.asyncDispose]() {
      await loop.stop();
      await storage.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

const agentsFile = path.join(import.meta.dirname, '../../fixtures/polling-agents.yaml');

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
    for (let count = 0; count < 280; count++) await calls.ask('silent');
    await expect.poll(() => most).toBeGreaterThan(100);
    const id = await calls.ask('other');
    const row = () => calls.storage.elicitations.get(id);
    await expect.poll(row).toMatchObject({ because: 'server_gone' });
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
  await expect.poll(() => seen.length).toBe(before + 1);
});
