import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { asksAgent, callsTool, says, script, withAgents } from '@interlude-ai/service/testing';

const books = mkdtempSync(path.join(tmpdir(), 'refunds-'));
after(() => rmSync(books, { recursive: true }));
process.env['REFUNDS_FILE'] = path.join(books, 'refunds.txt'); // The service under test inherits it.
const options = {
  file: `${import.meta.dirname}/agents.yaml`,
  timeout: '60s' as const,
};

/** What a good model does; each agent has a script of its own. */
function modelFor(order: string) {
  return {
    support: script(
      callsTool('find_order', { order }),
      asksAgent('policy', `May order ${order} be refunded, and how much?`),
      callsTool('ask_reason', { order }),
      callsTool('refund', { order, euros: 45, reason: 'damaged' }),
      says('That is done.'),
    ),
    policy: script(
      [callsTool('find_order', { order }), callsTool('read_policy')],
      says('Yes, up to 45 euros.'),
    ),
  };
}

test(
  'refunds once, when the user has given a reason and approved, also when all is killed meanwhile',
  withAgents(options, async (agents) => {
    const turn = await agents.as('alice').send('support', 'Order 1043: a refund, please', {
      model: modelFor('1043'),
    });
    const why = await turn.question({ tool: 'ask_reason', fields: ['reason', 'note'] });
    await why.answer({ reason: 'damaged' });
    const approval = await turn.question({ tool: 'refund', trigger: 'approval' });
    assert.deepEqual(await turn.calls('refund'), []);
    await agents.restart();
    await approval.approve();
    assert.equal(await turn.answer(), 'That is done.');
    assert.deepEqual(await turn.calls('refund'), [
      {
        arguments: { order: '1043', euros: 45, reason: 'damaged' },
        result: 'Refunded: 45 euros for order 1043 (damaged).',
      },
    ]);
  }),
);

test(
  'refunds nothing that is refused, and the model reads why',
  withAgents(options, async (agents) => {
    const turn = await agents.as('alice').send('support', 'Order 1042: a refund, please', {
      model: modelFor('1042'),
    });
    await (await turn.question({ tool: 'ask_reason' })).answer({ reason: 'damaged' });
    const approval = await turn.question({ trigger: 'approval' });
    await assert.rejects(agents.as('bob').answer(approval, {}), { code: 'not_your_question' });
    await approval.decline('The customer keeps it after all.');
    await turn.answer();
    assert.deepEqual(await turn.calls('refund'), []);
    assert.match(turn.modelReceived('refund') ?? '', /The customer keeps it after all/);
  }),
);

test(
  'refunds nothing without an answer',
  withAgents(options, async (agents) => {
    const turn = await agents.as('alice').send('support', 'Order 1042: a refund, please', {
      model: {
        support: script(callsTool('ask_reason', { order: '1042' }), says('Nothing was refunded.')),
      },
    });
    const why = await turn.question({ tool: 'ask_reason' });
    await turn.skip('10m');
    assert.equal(await why.outcome(), 'expired');
    assert.equal(await turn.answer(), 'Nothing was refunded.');
    assert.match(turn.modelReceived('ask_reason') ?? '', /gave no reason \(expired\)/);
  }),
);
