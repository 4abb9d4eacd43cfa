import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsTool, says, script, withAgents } from '@interlude-ai/service/testing';

const options = { file: `${import.meta.dirname}/agents.yaml`, timeout: '30s' as const };
const model = script(callsTool('book_table', { people: 4 }), says('Done.'));

test(
  'books when the user has said when',
  withAgents(options, async (agents) => {
    const turn = await agents.as('alice').send('assistant', 'A table for four', { model });
    const question = await turn.question({ tool: 'book_table', fields: ['time', 'outside'] });
    await question.answer({ time: '19:30', outside: true });
    assert.equal(await turn.answer(), 'Done.');
    assert.match(turn.modelReceived('book_table') ?? '', /at 19:30 on the terrace, number T4-1930/);
  }),
);

test(
  'books nothing without an answer',
  withAgents(options, async (agents) => {
    const turn = await agents.as('alice').send('assistant', 'A table for four', { model });
    const question = await turn.question({ tool: 'book_table' });
    await turn.skip('10m');
    assert.equal(await question.outcome(), 'expired');
    await turn.answer();
    assert.match(turn.modelReceived('book_table') ?? '', /No table was booked/);
    assert.deepEqual(await turn.calls('book'), []);
  }),
);
