import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createCallRounds } from '../../../src/activities/call-tool/rounds.ts';
import { createElicitationActivities } from '../../../src/activities/questions/questions.ts';
import type { ServerConfig } from '../../../src/config/config.ts';
import { createOAuthStore } from '../../../src/credentials/mcp-oauth/store.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { begunTurn } from '../../storage/contract/fixtures.ts';

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

async function openQuestions() {
  const storage = await openStorage({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => storage.close());
  const keys = parseKeys(generateKey('k1'));
  const store = createOAuthStore({ storage, keys, publicUrl: 'http://interlude' });
  const { openElicitation } = createElicitationActivities({
    storage,
    rounds: createCallRounds({ storage, keys }),
    storeOf: () => store,
    config: {
      http: {
        port: 0,
        host: '',
        publicUrl: 'http://interlude',
        trustProxy: [],
        corsOrigins: [],
        allowedHosts: [],
        returnUrls: [],
        bodyLimit: 1,
        rateLimitPerMinute: 1,
        openRequests: { perUser: 100, perAddress: 2_000 },
      },
      elicitation: { timeoutMs: 600_000, maxOpen: 1, maxOpenPerTurn: 1 },
      agents: new Map(),
      servers: new Map([['tracker', tracker]]),
    },
  });
  const turn = await begunTurn(storage);
  const question = {
    turn,
    workflowId: 'turn/x/y',
    elicitationId: randomUUID(),
    user: 'alice',
    ask: { kind: 'connection', server: 'tracker', reason: 'missing', seenVersion: 0 } as const,
    deadline: Date.now() + 600_000,
  };
  const connect = () =>
    storage.connections.establish(
      { tenant: turn.tenant, server: 'tracker', user: 'alice' },
      { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null },
    );
  return { storage, openElicitation, question, connect };
}

test('an account that is connected before anybody is asked: nobody is asked', async () => {
  const { storage, openElicitation, question, connect } = await openQuestions();
  await connect();
  expect(await openElicitation(question)).toEqual({ kind: 'already-connected', connectedVersion: 1 });
  expect(await storage.elicitations.get(question.elicitationId)).toBeNull();
});

test('a question about an account names the call that asked first', async () => {
  const { storage, openElicitation, question } = await openQuestions();
  await openElicitation({ ...question, ask: { ...question.ask, toolCallId: 'call-1' } });
  const row = await storage.elicitations.get(question.elicitationId);
  expect(row?.request.context).toMatchObject({ trigger: 'credential_required', toolCallId: 'call-1' });
});

test('a worker dies after it asked, and the account is connected before the next one takes over: the question is still known to be open', async () => {
  const { storage, openElicitation, question, connect } = await openQuestions();
  expect(await openElicitation(question)).toEqual({ kind: 'opened', connectedVersion: null });
  await connect();
  expect(await openElicitation(question)).toEqual({ kind: 'opened', connectedVersion: 1 });
  expect(await storage.elicitations.ofConversation(question.turn)).toHaveLength(1);
});
