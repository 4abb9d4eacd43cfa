import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, onTestFinished, test } from 'vitest';
import { accountQuestion } from '../../../src/activities/call-tool/account.ts';
import { openQuestions } from '../../../src/activities/questions.ts';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { createOAuthStore } from '../../../src/credentials/mcp-oauth/oauth-store.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { OpenedQuestions } from '../../../src/storage/tables/elicitations.ts';
import { begunTurn, keptStep } from '../../storage/contract/fixtures.ts';

const tracker: ServerConfig = {
  name: 'tracker',
  title: 'Tracker',
  url: 'http://127.0.0.1:4/mcp',
  credentialScope: 'user',
  store: 'oauth',
  headers: {},
  headersEnv: {},
  timeout: 1_000,
  maxRounds: 10,
};

async function openAccounts() {
  const storage = await openStorage({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => storage.close());
  const keys = parseKeys(generateKey('k1'));
  const store = createOAuthStore({ storage, keys, publicUrl: 'http://interlude' });
  const parts = {
    storage,
    keys,
    storeOf: () => store,
    config: {
      http: {
        port: 0,
        host: '',
        publicUrl: 'http://interlude',
        trustProxy: false,
        corsOrigins: [],
        allowedHosts: [],
        returnUrls: [],
        bodyLimit: 1,
      },
      elicitation: {
        timeoutMs: 600_000,
        maxOpen: 1,
        maxOpenPerTurn: 1,
        maxOpenPerTenant: undefined,
      },
      agents: new Map(),
      servers: new Map([['tracker', tracker]]),
    },
  };
  const turn = { ...(await begunTurn(storage)), limits: { elicitationTimeoutMs: 600_000 } };
  const calls = ['call-1', 'call-2'].map((toolCallId) => ({ toolCallId, toolName: 'ask', input: {} }));
  await keptStep(storage, turn, { calls });
  const required = { kind: 'connection-required', reason: 'missing', seenVersion: 0 } as const;
  const ask = (toolCallId: string): Promise<OpenedQuestions> => {
    const call = { turn, toolCallId };
    const asked = accountQuestion(parts, call, { server: tracker, tool: null }, required);
    return new MockActivityEnvironment().run(() => openQuestions(parts, call, [asked]));
  };
  const connect = () =>
    storage.connections.establish(
      { tenant: turn.tenant, server: 'tracker', user: 'alice' },
      { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null },
    );
  return { storage, turn, ask, connect };
}

function opened(result: OpenedQuestions) {
  const [first] = result.kind === 'opened' ? result.questions : [];
  if (!first) throw new Error(`Nothing was opened: ${result.kind}.`);
  return first.question;
}

test('an account that is connected already is not asked for', async () => {
  const { storage, turn, ask, connect } = await openAccounts();
  await connect();
  expect(await ask('call-1')).toEqual({ kind: 'already-connected', version: 1 });
  expect(await storage.elicitations.ofConversation(turn)).toEqual([]);
});

test('a question about an account leads to its own page and names the call that asked first', async () => {
  const { ask } = await openAccounts();
  const { id, request } = opened(await ask('call-1'));
  expect(request).toMatchObject({ mode: 'url', url: `http://interlude/auth/connect?e=${id}` });
  expect(request.context).toMatchObject({ trigger: 'credential_required', toolCallId: 'call-1' });
  // The service itself is reached over plain http here.
  expect(request.context.warnings).toEqual(['plain_http']);
});

test('all calls that need an account share its question, and get what became of it', async () => {
  const { storage, turn, ask, connect } = await openAccounts();
  const first = opened(await ask('call-1'));
  expect(opened(await ask('call-2')).id).toBe(first.id);
  expect(opened(await ask('call-1')).id).toBe(first.id);
  await connect();
  for (const call of ['call-1', 'call-2'])
    expect(await storage.elicitations.ofCall(turn, call)).toMatchObject([
      { question: { id: first.id, status: 'accept' }, remainingMs: 0 },
    ]);
});
