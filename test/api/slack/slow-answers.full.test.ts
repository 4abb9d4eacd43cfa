/** Answers from a window while the database is slow or away: Slack is answered in time, and nothing that was typed is lost. */
import { afterEach, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { said, taken, untilSaid, untilTaken, useAskingInSlack } from './asking-in-slack.ts';

/** Holds an answer back before it is written. */
let gate: () => Promise<void> = async () => undefined;
/** Nothing can be read of questions. */
let isAway = false;
afterEach(() => void (gate = async () => undefined));

const setup = await useAskingInSlack({ around });
const { begin, opened, submit, statusOf, server } = setup;

function around(storage: Storage): Storage {
  const { elicitations } = storage;
  return {
    ...storage,
    elicitations: {
      ...elicitations,
      async get(id) {
        if (isAway) throw new Error('the database is gone');
        return elicitations.get(id);
      },
      async answer(...given) {
        await gate();
        return elicitations.answer(...given);
      },
    },
  };
}

const city = () => [asks({ trip: form('Which city?', { city: { type: 'string', title: 'City' } }) })];
const answer = () => server.calls.at(-1)?.params.inputResponses?.['trip'];

test('an answer that takes longer than Slack waits is taken, and its window says so then', async () => {
  const asked = await begin(city());
  const window = await opened(asked);
  const open = Promise.withResolvers<void>();
  gate = () => open.promise;
  await submit(window, { City: 'Lisbon' });
  expect(said(window)).toContain('Your answer is on its way.');
  expect(await statusOf(window.elicitationId)).toBe('pending');
  open.resolve();
  await untilSaid(window, taken);
  expect(await asked.end()).toContain('done');
  expect(answer()).toEqual({ action: 'accept', content: { city: 'Lisbon' } });
});

test('an answer that fails after that is told, and can be given again', async () => {
  const asked = await begin(city());
  const window = await opened(asked);
  const open = Promise.withResolvers<void>();
  gate = () => open.promise;
  await submit(window, { City: 'Lisbon' });
  open.reject(new Error('the database is gone'));
  await untilSaid(window, 'Your answer may not have been taken. Open the question again.');
  gate = async () => undefined;
  const again = await opened(asked);
  await submit(again, { City: 'Porto' });
  await untilTaken(again);
  await asked.end();
  expect(answer()).toEqual({ action: 'accept', content: { city: 'Porto' } });
});

test('where an answer cannot be kept, Slack keeps the window with what was typed', async () => {
  const asked = await begin(city());
  const window = await opened(asked);
  isAway = true;
  expect((await submit(window, { City: 'Lisbon' })).status).toBeGreaterThanOrEqual(500);
  isAway = false;
  expect(window.isOpen).toBe(true);
  await submit(window, { City: 'Lisbon' });
  await untilTaken(window);
  expect(await asked.end()).toContain('done');
});
