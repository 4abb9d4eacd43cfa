import { expect, test } from 'vitest';
import { startOptions } from '../../src/service/start-workflow.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';

const turn = {
  tenant: 'demo',
  conversation: 'c1',
  turnId: 't1',
  agent: 'assistant',
  user: 'alice',
  capabilities: { url: true, form: true },
  clientMessageId: 'm1',
  messages: [],
};
const minutes = (n: number) => n * 60_000;

function limitsWith(env: Record<string, string>) {
  const config = loadConfig(env, process.cwd());
  const { workflowExecutionTimeout, args } = startOptions(turn, { buildId: 'one', config });
  expect(workflowExecutionTimeout).toBe(2 * config.turn.timeoutMs + minutes(60));
  return { turn: config.turn.timeoutMs, call: args?.[0].limits.toolCallMs };
}

test('a tool call may take as long as all rounds of its server, a turn a day, and its workflow far more', () => {
  // The demo's remote agent: ten rounds, a minute each of its own, and the ten minutes of a question.
  expect(limitsWith({})).toEqual({ turn: minutes(24 * 60), call: minutes(11 * (10 + 1) + 5) });
});

test('both grow with the time that people have to answer', () => {
  expect(limitsWith({ ELICITATION_TIMEOUT: '12h' })).toEqual({
    turn: minutes(10 * 12 * 60),
    call: minutes(11 * (12 * 60 + 1) + 5),
  });
});

test('a turn may be given less, or more', () => {
  expect(limitsWith({ TURN_TIMEOUT: '1h' }).turn).toBe(minutes(60));
  expect(() => limitsWith({ TURN_TIMEOUT: '10m' })).toThrow(
    'TURN_TIMEOUT: a turn has to outlive its questions',
  );
});
