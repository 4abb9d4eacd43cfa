import { expect, test } from 'vitest';
import { loadAuthorActivities } from '../../src/processes/workers/author-activities.ts';

test('every function of an author is an activity', async () => {
  const activities = 'export const limit = 3; export async function note(text) { return text; }';
  expect([...(await loadAuthorActivities({ hash: 'one', activities })).keys()]).toEqual(['note']);
});

test('code that waits for ever while it is loaded does not keep its worker from saying so', async () => {
  const activities = 'await new Promise(() => undefined); export async function note() {}';
  await expect(loadAuthorActivities({ hash: 'two', activities }, { timeoutMs: 100 })).rejects.toThrow(
    'were not loaded within 0.1 s: look for an await outside of their functions',
  );
});
