/** Whoever declines, or cannot be asked, reads in the answer where the account can be connected: on every surface. */
import { expect, test } from 'vitest';
import { ask, consumers, textIn as textOf } from '../../packages/client/test/ai-sdk/consumers.ts';
import { listing, optionsFor } from '../../packages/client/test/ai-sdk/service-options.ts';
import { collect, createOpenAI, questionIn, say, textIn } from '../clients/openai-client.ts';
import { useService } from '../service/use-service.ts';

const used = useService();
const page = () => `${used.service.baseUrl}/connections`;

/** As the person would, wherever she is asked. */
async function decline(elicitationId: string) {
  const row = await used.service.storage.elicitations.get(elicitationId);
  const conversationId = row?.conversation ?? '';
  const { status } = await used.alice.answer({ conversationId, elicitationId, action: 'decline' });
  expect(status).toBeLessThan(300);
}

test('a chat that declines', async () => {
  const stream = await used.alice.chat(listing);
  await decline((await stream.question('pending')).elicitationId);
  await stream.finished();
  expect(stream.text()).toContain(page());
});

test('a chat that cannot be asked, which gets the address as a part of its own, too', async () => {
  const stream = await used.alice.chat(listing, { supports: null });
  const chunks = await stream.finished();
  expect(stream.text()).toContain(page());
  const notice = chunks.find(({ type }) => type === 'data-tool-auth-required');
  expect(notice?.['data']).toMatchObject({ server: 'tracker', url: page() });
});

test("OpenAI's client, asked or not", async () => {
  const mute = await createOpenAI(used.service, 'alice');
  expect(textIn(await collect(await mute.chat.completions.create(say(listing))))).toContain(page());

  const asked = await createOpenAI(used.service, 'alice', { supports: 'true' });
  const chunks = [];
  for await (const chunk of await asked.chat.completions.create(say(listing))) {
    chunks.push(chunk);
    const question = questionIn(chunk);
    if (question?.status === 'pending') await decline(question.elicitationId);
  }
  expect(textIn(chunks)).toContain(page());
});

test.each(consumers)('AI SDK $version, with a handler that declines and without one', async (consumer) => {
  const options = await optionsFor(used.service);
  for (const more of [{}, { onElicitation: () => ({ action: 'decline' as const }) }]) {
    const { finished } = ask(consumer, { ...options, ...more }, listing);
    expect(textOf(await finished)).toContain(page());
  }
});
