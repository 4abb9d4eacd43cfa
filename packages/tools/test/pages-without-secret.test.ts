import { expect, test } from 'vitest';
import type { Config } from '../../../src/platform/config/config.ts';
import { pagesWithoutSecret } from '../../../src/platform/tool-bundles/open-agent-bundles.ts';
import type { ToolBundle } from '../../../src/platform/tool-bundles/tool-bundle.ts';

const tool = (name: string, file: string) => ({
  name,
  title: name,
  description: name,
  inputSchema: {},
  file,
});
const bundle: ToolBundle = {
  hash: 'h',
  workflows: '',
  node: '',
  manifest: [tool('pay', 'pay.ts'), tool('read', 'read.ts')],
  pages: ['pay.ts'],
};
const agent = (tools: object) => ({ tools: { folder: '/tools', ...tools } });

test('at start it is known whose pages could never report that they are done', () => {
  const agents = new Map(
    Object.entries({
      bare: agent({}),
      signing: agent({ completionSecretEnv: 'SECRET' }),
      reading: agent({ allow: ['read'] }),
    }),
  ) as unknown as Config['agents'];
  const opened = new Map([
    ['bare', { bundle }],
    ['signing', { bundle }],
    ['reading', { bundle, allow: ['read'] }],
  ]);
  expect(pagesWithoutSecret({ agents }, opened)).toEqual([
    expect.stringMatching(/^agents\.bare\.tools: pay\.ts /),
  ]);
});
