/** Remote agents on the SDK's server, in both versions of A2A, with and without streams. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { accept, asTurn } from '../../asking/asking-service.ts';
import { startScriptedAgent } from '../../servers/scripted-agent.ts';
import type { ScriptedAgent } from '../../servers/scripted-agent.ts';
import { useService } from '../../service/use-service.ts';

const peers = {
  streaming: { version: '1.0', streaming: true },
  polled: { version: '1.0', streaming: false },
  oldstreaming: { version: '0.3', streaming: true },
  oldpolled: { version: '0.3', streaming: false },
} as const;

const agents = new Map<string, ScriptedAgent>();

const { alice } = useService({
  async needs(stack) {
    const env: Record<string, string> = {};
    for (const [name, options] of Object.entries(peers)) {
      const agent = await startScriptedAgent(options);
      stack.defer(() => agent.stop());
      agents.set(name, agent);
      env[`${name.toUpperCase()}_CARD`] = agent.card;
    }
    const config = fileURLToPath(new URL('../../fixtures/remote-peers-agents.yaml', import.meta.url));
    return { env: { ...env, INTERLUDE_CONFIG: config } };
  },
});

describe.each(Object.keys(peers))('%s', (name) => {
  const ask = (task: string) =>
    asTurn(alice, randomUUID(), (conversation) => alice.chat(`ask the ${name} to ${task}`, { conversation }));

  test('answers', async () => {
    expect((await (await ask('answer three')).end()).text).toBe('I was told: three');
    expect((await (await ask('slow four')).end()).text).toBe('I was told: four');
    expect((await (await ask('message five')).end()).text).toBe('I was told: five');
  });

  test('asks, and goes on with the same task', async () => {
    const turn = await ask('ask Which city?');
    expect(await turn.question(0)).toMatchObject({ message: 'Which city?' });
    await turn.answer(0, accept({ answer: 'Lisbon' }));
    expect((await turn.end()).text).toBe('I was told: You said: Lisbon');
  });

  test('waits for a login, which is noticed', async () => {
    const turn = await ask('login Sign in at https://login.example/a');
    expect(await turn.question(0)).toMatchObject({ mode: 'url', url: 'https://login.example/a' });
    agents.get(name)?.finish();
    expect((await turn.end()).text).toBe('I was told: Signed in.');
  });

  test('fails and rejects, and is cancelled with its turn', async () => {
    expect((await (await ask('fail no seats')).end()).error).toContain('failed at the task');
    expect((await (await ask('reject not mine')).end()).error).toContain('rejected the task');
    const turn = await ask('wait');
    await expect.poll(() => agents.get(name)?.tasks.length).toBe(8);
    await alice.cancel(turn.conversation);
    await turn.end();
    await expect.poll(() => agents.get(name)?.cancelled.length).toBe(1);
  });
});
