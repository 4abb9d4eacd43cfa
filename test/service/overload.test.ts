/** The share that one of several tenants has of the turns that may wait for a worker. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { watchOverload } from '../../src/service/overload.ts';
import { begunTurn, ending, newTurn } from '../storage/contract/fixtures.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const soon = { interval: 100 };

test('one of several tenants may have half of the turns that wait for a worker, and a single one all', async () => {
  const { storage } = await openTestStorage();
  const overload = watchOverload({ storage, most: 40, logger: pino({ level: 'silent' }) });
  onTestFinished(() => overload.close());
  const turns = Array.from({ length: 20 }, () => newTurn({ tenant: 'busy' }));
  for (const turn of turns) await storage.turns.prepare(turn, ending);
  expect(overload.refusal('busy')).toBeNull();
  // No other tenant is known yet.
  for (let n = 0; n < 20; n += 1) expect(overload.refusal('busy')).toBeNull();

  await begunTurn(storage, { tenant: 'calm' });
  const refused = () => overload.refusal('busy');
  await expect.poll(refused, soon).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('of your tenant'),
  });
  expect(overload.refusal('calm')).toBeNull();
  for (const turn of turns) await storage.turns.begin(turn);
  await expect.poll(refused, soon).toBeNull();
});
