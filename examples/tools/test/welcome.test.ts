import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whenDeskCalls } from './run-desk.ts';

const ada = { name: 'Ada', email: 'ada@example.com' };

test(
  'a member is added to the team that was chosen',
  whenDeskCalls('welcome_member', {}, async (turn) => {
    await (await turn.question({ message: 'Who is new?' })).answer(ada);
    await (await turn.question({ fields: ['team'] })).answer({ team: 'Platform' });
    await (await turn.question({ fields: ['add'] })).answer({ add: true });
    await turn.answer();
    assert.deepEqual(
      (await turn.calls('addMember')).map((call) => call.arguments),
      [[{ ...ada, team: 'Platform' }]],
    );
  }),
);

test(
  'no member is added when the user closes the last question',
  whenDeskCalls('welcome_member', {}, async (turn) => {
    await (await turn.question({ message: 'Who is new?' })).answer(ada);
    await (await turn.question({ fields: ['team'] })).answer({ team: 'Platform' });
    await (await turn.question({ fields: ['add'] })).cancel();
    await turn.answer();
    assert.deepEqual(await turn.calls('addMember'), []);
  }),
);
