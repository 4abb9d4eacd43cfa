import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { callsTool, says, script, testAgents, withAgents } from '../../src/agent-tests/index.ts';
import { startBookingServer } from '../../test/servers/booking-server.ts';

const booking = await startBookingServer('rounds');
const options = {
  file: path.join(import.meta.dirname, 'agents.yaml'),
  env: { BOOKING_URL: booking.config.url },
  timeout: '60s' as const,
};
const model = script(callsTool('book', { city: 'Rome' }), says('Booked.'));

before(async () => {
  const begun = performance.now();
  await testAgents(options);
  console.log(`the service started in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
});

after(() => booking.stop());

// As many at a time as runners with several workers run.
void describe('a hundred', { concurrency: 4 }, () => {
  for (let number = 0; number < 100; number++)
    void test(
      `test ${number}`,
      withAgents(options, async (agents) => {
        const turn = await agents.as('alice').send('assistant', 'Book Rome', { model });
        const question = await turn.question({ tool: 'book', fields: ['nights'] });
        if (number % 3 === 0) await question.answer({ nights: 3 });
        if (number % 3 === 1) await question.decline();
        if (number % 3 === 2) await turn.skip('10m');
        assert.equal(await turn.answer(), 'Booked.');
        assert.equal(await question.outcome(), ['accept', 'decline', 'expired'][number % 3]);
        assert.equal((await turn.calls('book')).length, 1);
      }),
    );
});
