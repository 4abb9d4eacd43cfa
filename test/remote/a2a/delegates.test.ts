/** Remote A2A agents as delegates: what they answer, what they ask, and how each end is told to the model. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { accept, asTurn } from '../../asking/asking-service.ts';
import { startScriptedAgent, textOf } from '../../servers/scripted-agent.ts';
import type { ScriptedAgent } from '../../servers/scripted-agent.ts';
import { useService } from '../../service/use-service.ts';
import { delegatesOf } from '../../workflows/waiting.ts';

let agent: ScriptedAgent;

const { temporal, service, alice } = useService({
  async needs(stack) {
    agent = await startScriptedAgent();
    stack.defer(() => agent.stop());
    const config = fileURLToPath(new URL('../../fixtures/remote-agents.yaml', import.meta.url));
    return { env: { INTERLUDE_CONFIG: config, FLIGHTS_CARD: agent.card } };
  },
});

const ask = (task: string) =>
  asTurn(alice, randomUUID(), (conversation) => alice.chat(`ask the flights to ${task}`, { conversation }));

test('a remote agent is handed a task, and its answer is the result', async () => {
  const turn = await ask('answer three flights');
  expect((await turn.end()).text).toBe('I was told: three flights');
});

test('a question in words becomes a form of ours, and the answer goes on with the same task', async () => {
  const turn = await ask('ask Which city?');
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'form',
    message: 'Which city?',
    context: { trigger: 'a2a_input_required', server: 'flights', serverTitle: 'Flights' },
  });
  await turn.answer(0, accept({ answer: 'Lisbon' }));
  expect((await turn.end()).text).toBe('I was told: You said: Lisbon');
  expect(agent.messages.at(-1)).toMatchObject({ taskId: agent.tasks.at(-1) });
});

test('a refusal reaches the agent as words', async () => {
  const turn = await ask('ask Which city?');
  await turn.answer(0, { action: 'decline' });
  expect((await turn.end()).text).toBe('I was told: You said: No. The user declined to answer.');
});

test('a failure is told as what it is', async () => {
  expect((await (await ask('fail no seats')).end()).error).toMatch(
    /Flights \(.+\) failed at the task. Its words: "no seats"/,
  );
});

test('an agent that answers with a message has answered', async () => {
  expect((await (await ask('message at once')).end()).text).toBe('I was told: at once');
});

test('an agent that asks for ever is stopped', async () => {
  const turn = await ask('insist Which city?');
  for (const n of [0, 1, 2]) await turn.answer(n, accept({ answer: 'Lisbon' }));
  expect((await turn.end()).error).toContain('3');
  await expect.poll(() => agent.cancelled).toContain(agent.tasks.at(-1));
});

test('the end of the turn is the end of the task', async () => {
  const turn = await ask('ask Which city?');
  await turn.question(0);
  await alice.cancel(turn.conversation);
  await turn.end();
  await expect.poll(() => agent.cancelled).toContain(agent.tasks.at(-1));
});

test('an agent that is ended from outside while its task asks: the remote task is cancelled, and the turn goes on', async () => {
  const turn = await asTurn(alice, randomUUID(), (conversation) =>
    alice.chat('ask the lead to ask the flights to ask Which city?', { conversation }),
  );
  await turn.question(0);
  const [lead = ''] = await delegatesOf({ temporal, service }, turn, 'lead');
  await temporal.client.workflow.getHandle(lead).terminate('by an operator');
  expect((await turn.end()).text).toContain('Lead did not finish the task');
  await expect.poll(() => agent.cancelled).toContain(agent.tasks.at(-1));
});

test('the agent is told how often its task was handed on', () => {
  expect(agent.messages[0]).toMatchObject({ metadata: { 'interlude/hops': 1 } });
  expect(textOf(agent.messages[0] ?? { parts: [] })).toBe('answer three flights');
});
