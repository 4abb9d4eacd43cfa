/**
 * A model that repeats its prompt in two parts. The test says what must happen in between, so that an answer grows in its thread
 * even on a busy machine and does not end before the test has looked.
 */
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { ChatRequest } from '../../servers/openai-server.ts';

export interface TwoPartModel extends AsyncDisposable {
  /** For the settings of the service. */
  env: Record<string, string>;
  /** Comes between the two parts. */
  between: () => Promise<unknown>;
}

export async function createTwoPartModel(): Promise<TwoPartModel> {
  async function* answerTo(message: ChatRequest['messages'][number] | undefined) {
    yield 'You said: ';
    await model.between();
    yield String(message?.content);
  }
  const server = await createOpenAIServer({
    reply: ({ messages }) => ({ kind: 'text', chunks: answerTo(messages.at(-1)) }),
  });
  const model: TwoPartModel = {
    env: {
      INTERLUDE_CONFIG: new URL('../../fixtures/slack-agents.yaml', import.meta.url).pathname,
      MODEL_URL: server.baseURL,
    },
    between: async () => undefined,
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return model;
}
