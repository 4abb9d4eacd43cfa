import { postedInNode } from '@interlude-ai/tools/bundle/bundle-code.ts';
import { expect, test } from 'vitest';
import { loadAuthorCode } from '../../../src/platform/processes/workers/tool-workers.ts';

test('every function of an author’s activities is an activity, and tools are found by their names', async () => {
  const node = `export const activities = { limit: 3, note: async (text) => text };
export const tools = [{ name: 'greet', execute: () => 'hello' }];`;
  const { activities, tools } = await loadAuthorCode({ hash: 'one', node });
  expect([...activities.keys()]).toEqual(['note']);
  expect([...tools.keys()]).toEqual(['greet']);
});

test('code that waits for ever while it is loaded does not keep its worker from saying so', async () => {
  const node = 'await new Promise(() => undefined); export const activities = {};';
  await expect(loadAuthorCode({ hash: 'two', node }, { timeoutMs: 100 })).rejects.toThrow(
    'cannot be loaded: not loaded within 0.1 s: look for a loop or an await outside of the functions',
  );
});

test('definitions in Node that loop for ever block nothing, and are given up', async () => {
  await expect(postedInNode('for (;;);', 500)).rejects.toThrow('not loaded within 0.5 s: look for a loop');
});
