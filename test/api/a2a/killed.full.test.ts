/**
 * Tasks that wait for a person while everything around them is killed with -9, and two APIs that serve any task alike: whoever
 * watches, answers or cancels does it wherever they come. PostgreSQL, a Temporal of its own, processes of their own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { roundsAgents } from '../../asking/asking-service.ts';
import { createDeployment, showOutput, someKeys } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { pageTools } from '../ag-ui/runs.ts';
import { startPythonClient } from '../ag-ui/python-client.ts';
import { connect as connectAgUi, post } from '../ag-ui/stock-client.ts';
import type { ClientOptions } from '../ag-ui/stock-client.ts';
import { freePort } from '../../free-port.ts';
import { postgresUrl } from '../../postgres.ts';
import { asks, form, page, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import { answerOf, connectAgent, stateOf, watch } from './a2a-client.ts';
import { isTold, pushTo, startPushTarget, storyOf } from './push-target.ts';
import type { PushTargetServer } from './push-target.ts';

let deployment: Deployment;
let server: ScriptedMcpServer;
let target: PushTargetServer;
let processes: ServiceProcess[];
let other: { PORT: string; PUBLIC_URL: string };

const startAll = () =>
  Promise.all([deployment.start('worker'), deployment.start('server'), deployment.start('server', other)]);

beforeAll(async () => {
  server = await startScriptedMcpServer();
  target = await startPushTarget();
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: roundsAgents,
      ASKING_URL: server.url,
      DATABASE_URL: await postgresUrl(),
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      A2A_PUSH_TARGETS: 'local',
    },
  });
  deployment.defer(() => Promise.all([server.stop(), target[Symbol.asyncDispose]()]));
  await deployment.startTemporal(temporalPort);
  const port = String(await freePort());
  other = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  processes = await startAll();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function killEverything(): Promise<void> {
  await Promise.all(processes.map((one) => one.kill('SIGKILL')));
  processes = await startAll();
}

const at = (baseUrl: string) => connectAgent({ baseUrl, token: async () => deployment.token('alice') });
const here = () => at(deployment.baseUrl);
const there = () => at(other.PUBLIC_URL);
const push = () => pushTo(target);
const question = { city: form('Which city?', { city: { type: 'string' } }) };

test(
  'a form waits through kill -9 of everything: watched on one API, answered on the other, and its target told once it is there',
  { timeout: 120_000 },
  async () => {
    server.play(asks(question));
    // Away for a while, also when the worker is back.
    target.answer(503, 503, 503);
    const asked = await (await here()).send('call asking__ask {}', { push: push() });
    expect(stateOf(asked)).toBe('INPUT_REQUIRED');
    await killEverything();
    const agent = await there();
    expect(stateOf(await agent.get(asked.id))).toBe('INPUT_REQUIRED');
    const watching = await watch(agent.client.resubscribeTask({ id: asked.id, tenant: '' }));
    const answered = await (await here()).send('Lisbon', { taskId: asked.id });
    expect(answerOf(answered)).toBe('done');
    expect((await watching.end).states.at(-1)).toBe('COMPLETED');
    expect(server.calls).toHaveLength(2);
    const told = storyOf(await target.until(isTold('COMPLETED', asked.id)), asked.id);
    expect(told[0]).toMatch(/^task/);
    expect(told.indexOf('INPUT_REQUIRED')).toBeLessThan(told.lastIndexOf('WORKING'));
    expect(told.slice(-2)).toEqual(['text done', 'COMPLETED']);
  },
);

test(
  'a link waits through kill -9 of everything, and what is agreed to on one API goes on in the stream of the other',
  { timeout: 120_000 },
  async () => {
    server.play(asks({ there: page('https://example.com/a') }));
    const asked = await (await here()).send('call asking__ask {}', { push: push() });
    expect(stateOf(asked)).toBe('AUTH_REQUIRED');
    await killEverything();
    const watching = await watch((await there()).client.resubscribeTask({ id: asked.id, tenant: '' }));
    const agreed = await (await here()).send('done', { taskId: asked.id });
    expect(['AUTH_REQUIRED', 'WORKING', 'COMPLETED']).toContain(stateOf(agreed));
    const { states } = await watching.end;
    expect([states[0], states.at(-1)]).toEqual(['AUTH_REQUIRED', 'COMPLETED']);
    expect(server.calls).toHaveLength(2);
    await target.until(isTold('COMPLETED', asked.id));
  },
);

test(
  'interrupts of AG-UI wait through kill -9 of everything; each answer counts once, also when it is sent again',
  { timeout: 120_000 },
  async () => {
    const python = await startPythonClient();
    deployment.defer(() => python?.stop());
    const service = { token: async () => deployment.token('alice'), begun: () => undefined };
    const options: ClientOptions[] = [{ version: '1.0.0' }, { version: '0.0.59' }];
    if (python) options.push({ version: 'python', fetch: python.fetch });
    server.play(...options.map(() => asks(question)));
    const asked = [];
    for (const one of options) {
      const client = await connectAgUi({ ...service, baseUrl: deployment.baseUrl }, one);
      asked.push({ client, ...(await client.run('call asking__ask {}')) });
    }
    await killEverything();
    for (const { client, interrupts } of asked) {
      const resume = interrupts.map(({ id }) => {
        return { interruptId: id, status: 'resolved' as const, payload: { city: 'Lisbon' } };
      });
      const runId = 'after-the-crash';
      expect((await client.run(undefined, { resume, runId })).outcome).toBe('success');
      expect(client.texts()).toEqual(['done']);
      const again = { threadId: client.threadId, runId, resume };
      const { events } = await post({ ...service, baseUrl: other.PUBLIC_URL }, again);
      expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    }
    expect(server.calls).toHaveLength(2 * options.length);
  },
);

test(
  'a call of a front-end tool waits through kill -9 of everything; its result counts once, also when it is sent again',
  { timeout: 120_000 },
  async () => {
    server.play();
    const service = { token: async () => deployment.token('alice'), begun: () => undefined };
    const client = await connectAgUi({ ...service, baseUrl: deployment.baseUrl });
    await client.run('call set_theme {"theme":"dark"}', { tools: pageTools });
    await killEverything();
    client.runTools({ set_theme: 'It is dark.' });
    const sent = { threadId: client.threadId, messages: client.agent.messages };
    expect((await client.run(undefined, { tools: pageTools })).outcome).toBe('success');
    expect(client.texts()).toEqual(['It is dark.']);
    const { events } = await post({ ...service, baseUrl: other.PUBLIC_URL }, sent);
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    const thread = await connectAgUi(
      { ...service, baseUrl: other.PUBLIC_URL },
      { threadId: client.threadId },
    );
    await thread.run();
    expect(thread.texts()).toEqual(['It is dark.']);
  },
);

test(
  'a task is cancelled on one API, and whoever watches it on the other is told',
  { timeout: 120_000 },
  async () => {
    server.play(asks(question));
    const agent = await here();
    const asked = await agent.send('call asking__ask {}', { push: push() });
    const watching = await watch(agent.client.resubscribeTask({ id: asked.id, tenant: '' }));
    const cancelled = await (
      await there()
    ).client.cancelTask({ id: asked.id, tenant: '', metadata: undefined });
    expect(stateOf(cancelled)).toBe('CANCELED');
    expect((await watching.end).states.at(-1)).toBe('CANCELED');
    expect(stateOf(await agent.get(asked.id))).toBe('CANCELED');
    await target.until(isTold('CANCELED', asked.id));
  },
);

test.runIf(inject('suite') === 'release')(
  'a worker and an API stand still for a minute: the answer that is sent meanwhile counts once, and streams go on',
  { timeout: 240_000 },
  async () => {
    server.play(asks(question));
    const agent = await here();
    const asked = await agent.send('call asking__ask {}', { push: push() });
    const watching = await watch(agent.client.resubscribeTask({ id: asked.id, tenant: '' }));
    const elsewhere = await watch((await there()).client.resubscribeTask({ id: asked.id, tenant: '' }));
    const frozen = processes.slice(0, 2);
    for (const { pid } of frozen) process.kill(pid, 'SIGSTOP');
    const thawed = delay(60_000).then(() => {
      for (const { pid, isAlive } of frozen) if (isAlive()) process.kill(pid, 'SIGCONT');
    });
    const answered = (await there()).send('Lisbon', { taskId: asked.id }).catch(() => undefined);
    // The other API has accepted the answer; the worker has not continued with it.
    const state = async () => stateOf(await (await there()).get(asked.id));
    await expect.poll(state).toBe('WORKING');
    expect(server.calls).toHaveLength(1);
    const [seenHere, seenThere] = await Promise.all([watching.end, elsewhere.end, thawed]);
    for (const { states } of [seenHere, seenThere]) expect(states.at(-1)).toBe('COMPLETED');
    expect(stateOf(await untilOver(asked.id))).toBe('COMPLETED');
    await answered;
    expect(server.calls).toHaveLength(2);
    await target.until(isTold('COMPLETED', asked.id));
  },
);

async function untilOver(id: string) {
  const agent = await there();
  const state = async () => stateOf(await agent.get(id));
  await expect.poll(state, { timeout: 60_000 }).not.toMatch(/REQUIRED|WORKING/);
  return agent.get(id);
}
