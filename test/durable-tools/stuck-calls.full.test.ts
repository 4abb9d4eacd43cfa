/** Code of authors that never gives control back: the model hears of it soon, and other calls go on. */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, inject, test, vi } from 'vitest';
import { respond } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

// Temporal ends a task of a workflow that keeps its thread busy, where that is not the thread of the test.
vi.stubEnv('TEMPORAL_DEBUG', undefined);
afterAll(() => vi.unstubAllEnvs());
const used = useService({ tools: { assistant: await bundleTools() } });

const ended = 'mistakes was ended, because it did not come to an end';

async function call(kind: string, supports?: null) {
  const conversation = randomUUID();
  const words = `call mistakes ${JSON.stringify({ kind })}`;
  return {
    conversation,
    stream: await used.alice.chat(words, { conversation, ...(supports === null && { supports }) }),
  };
}

async function greeted(): Promise<string> {
  const stream = await used.alice.chat('call greet {"name":"Ada"}', { conversation: randomUUID() });
  await stream.finished();
  return stream.text();
}

async function openCalls(conversation: string): Promise<number> {
  const { count } = await used.temporal.client.workflow.count(
    `WorkflowType = 'durableTool' AND ExecutionStatus = 'Running' AND InterludeConversation = '${conversation}'`,
  );
  return count;
}

/** Of the calls that have no result yet. A call whose turn is cancelled before it has started never starts. */
async function callStates(conversation: string): Promise<string[]> {
  const { turns, toolCalls } = used.service.storage;
  const live = await turns.live({ tenant: 'demo', conversation });
  return live ? (await toolCalls.unfinished(live)).map(({ state }) => state) : [];
}

test('a tool that asks and asks is told when it is enough', async () => {
  // No question can be shown, so each is over at once.
  const { stream } = await call('asks for ever', null);
  await stream.finished();
  expect(stream.text()).toContain('Mistakes failed: it has asked 100 questions in one call');
});

test.concurrent.each(['loops for ever', 'waits for ever'])(
  'a tool that %s is ended, the model is told, and others go on meanwhile',
  async (kind) => {
    const begunAt = Date.now();
    const { stream } = await call(kind, null);
    expect(await greeted()).toBe('Hello, Ada.');
    await stream.finished();
    expect(stream.text()).toContain(ended);
    // Half a minute where there is time; in any case long before the call's own deadline.
    expect(Date.now() - begunAt).toBeLessThan(120_000);
  },
  150_000,
);

test.runIf(inject('suite') === 'release')(
  'a loop that begins after an answer is ended, and others that waited beside it go on',
  async () => {
    const { stream, conversation } = await call('loops after an answer');
    const others = await Promise.all(
      ['one', 'two', 'three'].map(async (word) => {
        const conversation = randomUUID();
        const stream = await used.alice.chat('call survey {"questions":1}', { conversation });
        return { word, conversation, stream, question: await stream.question('pending') };
      }),
    );
    await respond(used.alice, conversation, await stream.question('pending'), {
      action: 'accept',
      content: { word: 'yes' },
    });
    for (const { word, conversation, stream, question } of others) {
      await respond(used.alice, conversation, question, { action: 'accept', content: { word } });
      await stream.finished();
      expect(stream.text()).toBe(word);
    }
    await stream.finished();
    expect(stream.text()).toContain(ended);
  },
  150_000,
);

test('a loop whose turn was cancelled is ended, too', async () => {
  const { stream, conversation } = await call('loops for ever');
  const open = () => openCalls(conversation);
  await expect.poll(() => callStates(conversation)).toEqual(['started']);
  await expect.poll(open).toBe(1);
  await used.alice.cancel(conversation);
  await stream.finished();
  expect(await open()).toBe(1);
  await expect.poll(open, { timeout: 60_000, interval: 500 }).toBe(0);
  expect(await greeted()).toBe('Hello, Ada.');
}, 150_000);
