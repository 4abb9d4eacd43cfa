import { expect, test } from 'vitest';
import { unfinishedCallResult } from '../../src/turn/call-result.ts';

const turn = { tenant: 'demo', conversation: 'c', turnId: 't' };

test.each([
  ['cancelled', 'requested', 'cancel'],
  ['cancelled', 'paused', 'cancel'],
  ['cancelled', 'started', 'stopped'],
  ['superseded', 'started', 'cancel'],
  ['failed', 'requested', 'failed'],
  ['failed', 'started', 'unknown'],
] as const)('when a turn is %s, a call that is %s ends as %s', (status, state, outcome) => {
  const { event, outcome: counted } = unfinishedCallResult(
    turn,
    status,
  )({ toolCallId: 'c1', toolName: 'tracker__list', state });
  expect([counted, event.event]).toEqual([outcome, expect.objectContaining({ outcome })]);
});
