/** Code of authors that never gives control back: the model hears of it after a minute, not at the end of the turn. */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

// Temporal ends a task of a workflow that keeps its thread busy, where that is not the thread of the test.
vi.stubEnv('TEMPORAL_DEBUG', undefined);
afterAll(() => vi.unstubAllEnvs());
const used = useService({ tools: { assistant: await bundleTools() } });

// First: a workflow that loops is tried again and again, also after its call was ended.
test('a tool that asks and asks is told when it is enough', async () => {
  // Nobody can be asked, so each question is over at once.
  const stream = await used.alice.chat('call mistakes {"kind":"asks for ever"}', {
    conversation: randomUUID(),
    supports: null,
  });
  await stream.finished();
  expect(stream.text()).toContain('Mistakes failed: it has asked 100 questions in one call');
});

test.concurrent.each(['loops for ever', 'waits for ever'])(
  'a tool that %s is ended after a minute, the model is told, and others go on meanwhile',
  async (kind) => {
    const stream = await used.alice.chat(`call mistakes ${JSON.stringify({ kind })}`, {
      conversation: randomUUID(),
      supports: null,
    });
    const other = await used.alice.chat('call greet {"name":"Ada"}', { conversation: randomUUID() });
    await other.finished();
    expect(other.text()).toBe('Hello, Ada.');
    await stream.finished();
    expect(stream.text()).toContain('mistakes was ended, because it did not come to an end');
  },
  150_000,
);
