/** A thread of tools that says nothing any more, and that nothing cuts off: its worker is replaced, and its calls go on. */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

// With threads, as in production.
vi.stubEnv('TEMPORAL_DEBUG', undefined);
afterAll(() => vi.unstubAllEnvs());
const used = useService({ tools: { assistant: await bundleTools() } });

test('a call whose thread hangs goes on in another one', async () => {
  // Over when the thread has been silent for long enough: the second attempt does not hang.
  const kind = `hangs until ${Date.now() + 15_000}`;
  const conversation = randomUUID();
  const words = `call mistakes ${JSON.stringify({ kind })}`;
  const stream = await used.alice.chat(words, { conversation, supports: null });
  await stream.finished();
  expect(stream.text()).toContain('went on');
}, 150_000);
