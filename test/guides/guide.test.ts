/** Every block of these guides is run by guides.release.test.ts, or says why it is not. */
import { expect, test } from 'vitest';
import { blocksOf, followed, readGuide } from './guide.ts';

test('a guide has blocks to run, files to write, and blocks that say why they are not run', () => {
  const markdown = [
    '```sh\nnpm test\n```\n\n```text\npass 2\n…\n```',
    '```ts\n// tools/a.ts\nexport {};\n```',
    '```sh\n# not run by the tests: needs a container engine\ndocker compose up\n```',
    '```ts\nconst a = 1;\n```',
    '```json realm.json\n{}\n```',
  ].join('\n\n');
  expect(blocksOf(markdown)).toEqual([
    { line: 1, kind: 'command', script: 'npm test\n', shown: ['pass 2'] },
    { line: 10, kind: 'file', name: 'tools/a.ts', text: 'export {};\n' },
    { line: 15, kind: 'not run', reason: 'needs a container engine', text: expect.any(String) },
    { line: 20, kind: 'unclear' },
    { line: 24, kind: 'file', name: 'realm.json', text: '{}\n' },
  ]);
});

test.each(followed)('each block of the guide %s is run, or says why not', (name) => {
  expect(readGuide(name).filter(({ kind }) => kind === 'unclear')).toEqual([]);
});
