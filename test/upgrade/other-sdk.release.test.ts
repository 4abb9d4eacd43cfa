/**
 * Workers are replaced by workers with another version of Temporal's SDK, and back, while turns and calls of tools wait: they go
 * on with the code that is kept, joined with the SDK of the worker that runs it.
 */
import { expect, test } from 'vitest';
import { createCheckoutWithSdk, thisCheckout } from '../operations/checkouts.ts';
import { startInstallation } from '../operations/installation.ts';
import { beginTurn, chatKinds, completed } from '../operations/waiting-turns.ts';

test.each(['1.24.0', '1.20.2'])(
  'turns go on under SDK %s, and back',
  { timeout: 600_000 },
  async (version) => {
    using other = createCheckoutWithSdk(version);
    const at = await startInstallation();
    try {
      const begin = (when: string) => chatKinds.map((kind) => beginTurn(at, kind, `${when}-${kind}`));
      const before = begin('before');
      await Promise.all(before.map((turn) => turn.asked()));
      for (const place of [0, 1] as const) await at.startWorker(place, { checkout: other });
      const during = begin('during');
      await Promise.all(during.map((turn) => turn.asked()));
      for (const turn of before) expect([200, 202]).toContain((await turn.answer()).status);
      for (const turn of before) expect(await turn.ended()).toEqual(completed(turn));

      for (const place of [0, 1] as const) await at.startWorker(place, { checkout: thisCheckout });
      for (const turn of during) expect([200, 202]).toContain((await turn.answer()).status);
      for (const turn of during) expect(await turn.ended()).toEqual(completed(turn));
    } catch (error) {
      process.stderr.write(`${at.log()}\n`);
      throw error;
    } finally {
      await at.stop();
    }
  },
);
