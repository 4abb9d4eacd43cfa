import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whenDeskCalls } from './run-desk.ts';

const page = 'Home';

test(
  'a page is deleted once its user has said so',
  whenDeskCalls('delete_page', { page }, async (turn) => {
    await (await turn.question({ fields: ['confirmed'] })).answer({ confirmed: true });
    await turn.answer();
    assert.equal((await turn.calls('deletePage')).length, 1);
  }),
);

test(
  'no page is deleted while the box is not ticked',
  whenDeskCalls('delete_page', { page }, async (turn) => {
    await (await turn.question()).answer({ confirmed: false });
    await turn.answer();
    assert.deepEqual(await turn.calls('deletePage'), []);
    assert.match(turn.modelReceived('delete_page') ?? '', /Nothing was deleted/);
  }),
);

test(
  'no page is deleted without an answer',
  whenDeskCalls('delete_page', { page }, async (turn) => {
    await turn.question();
    await turn.skip('10m');
    await turn.answer();
    assert.deepEqual(await turn.calls('deletePage'), []);
  }),
);
