/** An account that was connected a moment ago, and may not be visible here yet. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { resolveCredential } from '../../../src/activities/call-tool/account.ts';
import type { ConnectionRequired, Credential } from '../../../src/credentials/credential-store.ts';
import { serverConfig } from '../../credentials/guarded-server.ts';

const missing: ConnectionRequired = { kind: 'connection-required', reason: 'missing', seenVersion: 0 };
const credential: Credential = { kind: 'credential', headers: {}, version: 1 };
const turn = {
  tenant: 'demo',
  conversation: 'c',
  turnId: 't',
  agent: 'assistant',
  user: 'alice',
  capabilities: { url: true, form: true },
};

/** Answers in turn; the last one from then on. */
function resolving(wasConnected: boolean, answers: (Credential | ConnectionRequired)[]) {
  const at: number[] = [];
  const store = {
    async resolve() {
      at.push(performance.now());
      return answers[Math.min(at.length, answers.length) - 1] ?? missing;
    },
  };
  const work = () =>
    resolveCredential(store as never, serverConfig('http://127.0.0.1:9/mcp'), turn, async () => wasConnected);
  return { at, found: () => new MockActivityEnvironment().run(work) as Promise<unknown> };
}

test('after an account was connected for a call, it is looked for three times more, half a second apart', async () => {
  const { at, found } = resolving(true, [missing]);
  expect(await found()).toEqual(missing);
  expect(at).toHaveLength(4);
  for (const [index, time] of at.entries())
    expect(index === 0 || time - (at[index - 1] ?? 0) >= 490).toBe(true);
});

test('as soon as it is visible it is used, and what is not missing is not waited for', async () => {
  const late = resolving(true, [missing, credential]);
  expect(await late.found()).toEqual(credential);
  expect(late.at).toHaveLength(2);
  const revoked = resolving(true, [{ ...missing, reason: 'revoked' }]);
  await revoked.found();
  expect(revoked.at).toHaveLength(1);
});

test('a call for which nothing was connected asks at once', async () => {
  const { at, found } = resolving(false, [missing]);
  expect(await found()).toEqual(missing);
  expect(at).toHaveLength(1);
});
