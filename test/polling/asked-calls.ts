/** Open questions of servers of the old era, written to a database of their own, with a polling loop that runs on it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCallRounds, toRound } from '../../src/activities/call-tool/rounds.ts';
import { pollOfRound } from '../../src/activities/call-tool/server-rounds.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { startPolling } from '../../src/polling/polling.ts';
import { openDependencies } from '../../src/processes/dependencies.ts';
import { begunTurn, firstAttempt, keptStep } from '../storage/contract/fixtures.ts';
import { formQuestion, open } from '../storage/contract/question.ts';

export async function openAskedCalls(agentsFile: string, env = {}) {
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
