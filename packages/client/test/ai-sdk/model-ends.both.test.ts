/** How the agent's own model ends, as a consumer of the agent sees it. */
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { createOpenAIServer } from '../../../../test/servers/openai-server.ts';
import type { OpenAIServer, Reply } from '../../../../test/servers/openai-server.ts';
import { useService } from '../../../../test/service/use-service.ts';
import { newest, older } from './consumers.ts';
import { optionsFor } from './service-options.ts';

const INTERLUDE_CONFIG = fileURLToPath(new URL('../../../../test/fixtures/e2e-agents.yaml', import.meta.url));

const replies: Record<string, Reply> = {
  think: { kind: 'reasoning', thoughts: ['Hm, ', 'well.'], chunks: ['It is ', 'so.'] },
  'go on and on': { kind: 'text', chunks: ['And on'], finish: 'length' },
  'say something bad': { kind: 'text', chunks: ['I'], finish: 'content_filter' },
};

let model: OpenAIServer;
const { service } = useService({
  async needs(stack) {
    model = await createOpenAIServer({
      reply: ({ messages }) => {
        const words = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content);
        const [, reply] = Object.entries(replies).find(([prompt]) => words.includes(prompt)) ?? [];
        return reply ?? { kind: 'status', status: 400 };
      },
    });
    stack.defer(() => model.stop());
    return { env: { INTERLUDE_CONFIG, MODEL_URL: model.baseURL } };
  },
});

/** The newest AI SDK daily, the older ones in the full suite. */
describe.each(inject('suite') === 'daily' ? newest : older)(
  'AI SDK $version',
  ({ streamText, generateText, modelOf }) => {
    test.each([
      ['think', 'It is so.', 'stop'],
      ['go on and on', 'And on', 'length'],
      ['say something bad', 'I', 'content-filter'],
    ])('told to %s, the answer ends as its last step did', async (prompt, text, finishReason) => {
      const writer = modelOf(await optionsFor(service), 'writer');
      const result = streamText({ model: writer, prompt });
      expect(await result.text).toBe(text);
      expect(await result.finishReason).toBe(finishReason);
      expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
      expect(await generateText({ model: writer, prompt })).toMatchObject({ text, finishReason });
    });

    test('what the model thinks is reasoning', async () => {
      const writer = modelOf(await optionsFor(service), 'writer');
      const result = streamText({ model: writer, prompt: 'think' });
      expect(await result.reasoningText).toBe('Hm, well.');
      const { content } = await generateText({ model: writer, prompt: 'think' });
      expect(content).toMatchObject([
        { type: 'reasoning', text: 'Hm, well.' },
        { type: 'text', text: 'It is so.' },
      ]);
    });
  },
);
