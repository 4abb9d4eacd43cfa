/** The payment page in a real browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startTravelDesk } from '../../demo/travel/travel.ts';
import { openPersonsBrowser } from '../e2e/person.ts';
import { launchChromium } from '../browsers/chromium.ts';

test('a deposit is paid by reading a page and pressing a button, with or without a mouse', async () => {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
  stack.defer(() => rm(dataDir, { recursive: true }));
  const desk = await startTravelDesk({ port: 0, dataDir });
  stack.defer(() => desk.stop());
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  const person = await openPersonsBrowser(browser);
  stack.defer(() => person.leave());

  await person.open(desk.origin);
  await person.sees('A travel desk for the demo');
  await person.open(`${desk.origin}/pay/unknown`);
  await person.sees('There is nothing to pay here');
  await person.open(`${desk.origin}/pay/${desk.books.trips[0]?.payment}`);
  await person.sees('Deposit for a trip to Porto');
  expect(await person.text()).toContain('Alice Adams');
  await person.tabTo('Pay 180 €');
  await person.sees('The deposit is paid');
});
