/**
 * The encryption key is changed as docs/configuration.md says, beside turns that are under way: an account and a
 * question from before are as good as ever, and nobody is asked again.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { generateKey } from '../../src/credentials/sealing/key-ring.ts';
import { accept, asTurn } from '../asking/asking-service.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { readiness } from '../e2e/processes.ts';
import type { ServiceProcess } from '../e2e/processes.ts';
import { createDeployment, showOutput } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { freePort } from '../free-port.ts';
import { asks, done, form, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { questionsIn } from '../service/asking.ts';
import { connectAccount } from '../service/connect-account.ts';

const [k1, k2, k3] = [generateKey('k1'), generateKey('k2'), generateKey('k3')];
let deployment: Deployment;
let rounds: ScriptedMcpServer;
let running: ServiceProcess[] = [];

beforeAll(async () => {
  const temporalPort = await freePort();
  rounds = await startScriptedMcpServer();
  deployment = await createDeployment({
    env: { TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`, ROUNDS_URL: rounds.url },
  });
  deployment.defer(() => rounds.stop());
  await deployment.startTemporal(temporalPort);
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function deploy(keys: string): Promise<void> {
  await Promise.all(running.map((service) => service.kill('SIGTERM')));
  running = await Promise.all([
    deployment.start('server', { INTERLUDE_KEYS: keys }),
    deployment.start('worker', { INTERLUDE_KEYS: keys }),
  ]);
}

async function reseal(keys: string): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ['src/cli/checkout.ts', 'keys', 'reseal'], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: { ...bareEnvironment(), ...deployment.environment, INTERLUDE_KEYS: keys },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code: Number(code), output };
}

/** A turn that needs the account, without a question. */
async function listIssues(): Promise<void> {
  const alice = await deployment.caller('alice');
  const stream = await alice.chat('list my open issues');
  await stream.finished();
  expect(questionsIn(stream)).toEqual([]);
  expect(stream.text()).toContain('Here they are');
}

test('old key reads, new key writes, and then the old one is gone', async () => {
  await deploy(k1);
  const alice = await deployment.caller('alice');
  const first = await alice.chat('list my open issues');
  await connectAccount('alice', (await first.question('pending')).url);
  await first.finished();

  rounds.play(asks({ city: form('Which city?') }, 'the state'), done());
  const asked = await asTurn(alice, randomUUID(), (conversation) =>
    alice.chat('call rounds__ask {}', { conversation, agentId: 'asked' }),
  );
  await asked.question(0);

  await deploy(`${k1},${k2}`);
  await listIssues();
  await deploy(`${k2},${k1}`);
  await listIssues();
  expect(await reseal(`${k2},${k1}`)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/connections: 1 re-encrypted from "k1"[^]*"k1": it may be removed/),
  });

  await deploy(k2);
  await listIssues();
  const after = await asTurn(
    alice,
    asked.conversation,
    async () => (await alice.rejoin(asked.conversation))!,
  );
  await after.answer(0, accept({ city: 'Lisbon' }));
  expect((await after.end()).text).toBe('done');
  const [, answered] = rounds.calls;
  expect(answered?.params.requestState).toBe('the state');
  expect(answered?.params.inputResponses).toMatchObject({ city: { content: { city: 'Lisbon' } } });
  expect(deployment.tracker.calls).toHaveLength(4);
});

test('a process with other keys serves nothing and takes no turns: it says which key is missing, and ends', async () => {
  await deploy(k2);
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const others = [
    deployment.spawn('server', { INTERLUDE_KEYS: k3, PORT: new URL(baseUrl).port }),
    deployment.spawn('worker', { INTERLUDE_KEYS: k3 }),
  ];
  for (const service of others) {
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.output()).toMatch(/INTERLUDE_KEYS .* lacks the key "k2"; add it again/);
    expect(service.output()).not.toContain('ready');
  }
  expect(await readiness(baseUrl)).toBe(0);
  await listIssues();
  expect(await reseal(k3)).toMatchObject({
    code: 1,
    output: expect.stringContaining(
      'cannot be opened (sealed with "k2", which INTERLUDE_KEYS does not have)',
    ),
  });
});

test('a process that runs is not ready any more when others seal with a key it does not have', async () => {
  await deploy(k2);
  await deployment
    .start('worker', { INTERLUDE_KEYS: `${k3},${k2}` })
    .then((worker) => worker.kill('SIGTERM'));
  await vi.waitFor(async () => expect(await readiness(deployment.baseUrl)).toBe(503));
  const { notReady } = (await (await fetch(`${deployment.baseUrl}/readyz`)).json()) as {
    notReady: { name: string; detail: string }[];
  };
  expect(notReady).toMatchObject([{ name: 'keys', detail: expect.stringContaining('lacks the key "k3"') }]);
});
