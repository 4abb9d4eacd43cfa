/** An answer that a process which died may have sent: the agent is given a while to show it, before it is sent again. */
import { expect, test } from 'vitest';
import { startRawAgent, task } from '../../servers/raw-agent.ts';
import { answerTo, askingOnce, call } from './one-call.ts';

const patient = { timeout: 20_000 };

test('one that has not arrived is sent, once the agent has asked for three seconds more', async () => {
  await using agent = await startRawAgent({ answer: askingOnce('Which city?') });
  const { continuation } = await answerTo(agent);
  const before = Date.now();
  const { outcome } = await call(agent, { continuation, mayBeSent: true }, patient);
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'Booked.' }] } });
  expect(agent.messageIds()).toHaveLength(2);
  expect(Date.now() - before).toBeGreaterThanOrEqual(3_000);
});

test('one that has arrived shows meanwhile, and is not sent again', async () => {
  let reads = 0;
  const asking = task('INPUT_REQUIRED', { text: 'Which city?' });
  await using agent = await startRawAgent({
    answer({ method }) {
      if (method === 'SendMessage') return { result: { task: asking } };
      // Agents tell a state only when they have worked through what came before.
      return { result: ++reads > 4 ? task('COMPLETED', { text: 'Booked.' }) : asking };
    },
  });
  const { continuation } = await answerTo(agent);
  reads = 0;
  const { outcome } = await call(agent, { continuation, mayBeSent: true }, patient);
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'Booked.' }] } });
  expect(agent.messageIds()).toHaveLength(1);
});

test('an agent that asks something else by then is not given the old answer', async () => {
  let reads = 0;
  const asking = (text: string) => task('INPUT_REQUIRED', { text });
  await using agent = await startRawAgent({
    answer({ method }) {
      if (method === 'SendMessage') return { result: { task: asking('Which city?') } };
      return { result: ++reads > 4 ? asking('Which seat?') : asking('Which city?') };
    },
  });
  const { continuation } = await answerTo(agent);
  reads = 0;
  const { outcome } = await call(agent, { continuation, mayBeSent: true }, patient);
  expect(outcome).toMatchObject({
    kind: 'asks',
    pause: { questions: [{ request: { message: expect.stringContaining('Which seat?') } }] },
  });
  expect(agent.messageIds()).toHaveLength(1);
});
