/** Code of an author that takes its worker's thread with it, again and again: it is found, ended, and others go on. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { writeToolFolder } from '../../packages/tools/test/folder.ts';
import { createDeployment } from './deployment.ts';

const tools = `import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
export const hoard = defineTool({
  name: 'hoard', description: 'Fills the memory.', input: z.object({}),
  run() {
    const kept = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  },
});
export const greet = defineTool({
  name: 'greet', description: 'Greets.', input: z.object({}), run: () => 'Hello.',
});
`;

test('a tool that fills the memory is ended, the model is told, and others are run', async () => {
  const folder = await writeToolFolder({ 'tools.ts': tools });
  const script = path.resolve(import.meta.dirname, '../fixtures/script.ts');
  const config = path.join(folder, '../agents.yaml');
  await writeFile(
    config,
    `providers: { scripted: { script: ${JSON.stringify(script)} } }
servers: {}
agents: { assistant: { model: scripted, tools: { folder: ./tools } } }
`,
  );
  await using stack = new AsyncDisposableStack();
  const deployment = await createDeployment({ env: { INTERLUDE_CONFIG: config } });
  stack.defer(() => deployment.stop());
  await deployment.start('start', { NODE_OPTIONS: '--max-old-space-size=300' });
  const alice = await deployment.caller('alice');
  const hoarding = await alice.chat('call hoard {}', { conversation: randomUUID() });
  const greetings = Array.from({ length: 3 }, async () => {
    const stream = await alice.chat('call greet {}', { conversation: randomUUID() });
    await stream.finished();
    return stream.text();
  });
  await hoarding.finished();
  expect(hoarding.text()).toContain('hoard was ended, because it did not come to an end');
  expect(await Promise.all(greetings)).toEqual(['Hello.', 'Hello.', 'Hello.']);
  await expect.poll(() => deployment.output()).toContain('a worker has failed');
}, 150_000);
