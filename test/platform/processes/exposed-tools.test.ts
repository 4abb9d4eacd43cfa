/** What clients may call is settled when a worker starts. */
import { expect, test } from 'vitest';
import { exposedTools } from '../../../src/platform/processes/start-worker.ts';
import type { OpenedTools } from '../../../src/platform/tool-bundles/open-agent-bundles.ts';

function opened(names: string[], allow?: string[]): OpenedTools {
  const manifest = names.map((name) => ({
    name,
    title: name,
    expose: true,
    inputSchema: { type: 'object' },
  }));
  return { bundle: { manifest }, ...(allow && { allow }) } as unknown as OpenedTools;
}

test('a tool that agents share is exposed once, for the first of them that may use it', () => {
  const { bundle } = opened(['greet', 'pay']);
  const tools = exposedTools(
    new Map([
      ['assistant', { bundle, allow: ['greet'] }],
      ['desk', { bundle }],
    ]),
  );
  expect(tools.map(({ name, agent }) => [name, agent])).toEqual([
    ['greet', 'assistant'],
    ['pay', 'desk'],
  ]);
});

test('two folders that expose one name are refused, unless only one of them is allowed', () => {
  const clash = new Map([
    ['assistant', opened(['greet'])],
    ['desk', opened(['greet'])],
  ]);
  expect(() => exposedTools(clash)).toThrow(
    'The tools of assistant and of desk both expose "greet" to clients',
  );
  clash.set('desk', opened(['greet', 'pay'], ['pay']));
  expect(exposedTools(clash)).toHaveLength(2);
});
