import { describe, expect, test } from 'vitest';
import { advance, receiptFor } from '../../src/elicitation/lifecycle.ts';
import type { Elicitation, LifecycleEvent } from '../../src/elicitation/lifecycle.ts';

const form: Elicitation = {
  id: 'e1',
  mode: 'form',
  user: 'alice',
  deadline: 1,
  server: 'travel',
  state: { kind: 'pending' },
};
const connect: Elicitation = {
  id: 'e2',
  mode: 'url',
  user: 'alice',
  deadline: 1,
  server: 'tracker',
  connection: { seenVersion: 1 },
  state: { kind: 'pending' },
};
const answer = (
  action: 'accept' | 'decline' | 'cancel',
  responseId = 'r1',
  user = 'alice',
): LifecycleEvent => ({
  type: 'answered',
  responseId,
  action,
  user,
});
const connected = (version: number, server = 'tracker'): LifecycleEvent => ({
  type: 'connected',
  server,
  version,
});
const after = (start: Elicitation, ...events: LifecycleEvent[]) => events.reduce(advance, start);

describe('a question is settled by the first event that counts', () => {
  test.each(['accept', 'decline', 'cancel'] as const)('%s settles a form and is on record', (action) => {
    expect(after(form, answer(action)).state).toEqual({ kind: 'settled', outcome: action, responseId: 'r1' });
  });

  test('a second answer changes nothing and is told the outcome of the first', () => {
    const both = after(form, answer('accept', 'r1'), answer('decline', 'r2'));
    expect(both.state).toMatchObject({ outcome: 'accept', responseId: 'r1' });
    expect(receiptFor(both, 'r1', 'accept')).toEqual({ kind: 'recorded', outcome: 'accept' });
    expect(receiptFor(both, 'r2', 'decline')).toEqual({ kind: 'already-answered', outcome: 'accept' });
  });

  test('an answer after the deadline is told that the question expired', () => {
    const late = after(form, { type: 'deadline-passed' }, answer('accept'));
    expect(after(form, { type: 'expired-by-operator' }, answer('accept'))).toEqual(late);
    expect(late.state).toEqual({ kind: 'settled', outcome: 'expired' });
    expect(receiptFor(late, 'r1', 'accept')).toEqual({ kind: 'expired' });
  });

  test('the deadline does not undo an answer', () => {
    expect(after(form, answer('decline'), { type: 'deadline-passed' }).state).toMatchObject({
      outcome: 'decline',
    });
  });

  test('somebody else cannot answer', () => {
    const untouched = after(form, answer('accept', 'r1', 'bob'));
    expect(untouched).toEqual(form);
    expect(receiptFor(untouched, 'r1', 'accept')).toEqual({ kind: 'not-counted' });
  });

  test('cancelling the turn closes an open question as cancelled', () => {
    expect(after(form, { type: 'abandoned' }).state).toEqual({ kind: 'settled', outcome: 'cancel' });
  });
});

describe('a connection question is settled by the fact, not by consent', () => {
  test('accept keeps it open, and the answer that consented is on record once the account is there', () => {
    const consented = after(connect, answer('accept'));
    expect(consented.state).toEqual({ kind: 'pending', consent: 'r1' });
    expect(receiptFor(consented, 'r1', 'accept')).toEqual({ kind: 'awaiting-connection' });
    expect(advance(consented, connected(2)).state).toEqual({
      kind: 'settled',
      outcome: 'accept',
      responseId: 'r1',
    });
  });

  test('the fact counts without anybody saying yes', () => {
    expect(after(connect, connected(2)).state).toEqual({ kind: 'settled', outcome: 'accept' });
  });

  test.each([
    ['the connection that already failed', connected(1)],
    ['another server', connected(2, 'wiki')],
  ])('%s does not settle it', (_, event) => {
    expect(after(connect, event)).toEqual(connect);
  });

  test('consent does not take away the right to decline', () => {
    const declined = after(connect, answer('accept', 'r1'), answer('decline', 'r2'));
    expect(declined.state).toEqual({ kind: 'settled', outcome: 'decline', responseId: 'r2' });
    expect(receiptFor(declined, 'r1', 'accept')).toEqual({ kind: 'already-answered', outcome: 'decline' });
  });

  test('a yes that arrives after the fact is recorded, a no is told it came too late', () => {
    const done = after(connect, connected(2), answer('accept', 'r1'));
    expect(receiptFor(done, 'r1', 'accept')).toEqual({ kind: 'recorded', outcome: 'accept' });
    expect(receiptFor(done, 'r9', 'accept')).toEqual({ kind: 'recorded', outcome: 'accept' });
    expect(receiptFor(done, 'r2', 'decline')).toEqual({ kind: 'already-answered', outcome: 'accept' });
  });
});

describe('a page of a tool’s own', () => {
  const page: Elicitation = { ...form, id: 'e3', mode: 'url', page: 'reports' };

  test('accept is consent to open it, and the page’s own report settles the question', () => {
    const consented = after(page, answer('accept'));
    expect(consented.state).toEqual({ kind: 'pending', consent: 'r1' });
    expect(receiptFor(consented, 'r1', 'accept')).toEqual({ kind: 'awaiting-page' });
    const done = after(consented, { type: 'page-done' });
    expect(done.state).toEqual({ kind: 'settled', outcome: 'accept', responseId: 'r1' });
    expect(after(done, { type: 'page-done' })).toEqual(done);
  });

  test('a report counts without consent, too, as whoever was there has seen the page', () => {
    expect(after(page, { type: 'page-done' }).state).toEqual({ kind: 'settled', outcome: 'accept' });
  });

  test('consent alone expires', () => {
    expect(after(page, answer('accept'), { type: 'deadline-passed' }).state).toEqual({
      kind: 'settled',
      outcome: 'expired',
    });
  });

  test('after a refusal its report changes nothing', () => {
    expect(after(page, answer('decline'), { type: 'page-done' }).state).toMatchObject({ outcome: 'decline' });
  });
});
