/** A server's form through each chat client there is: shown whole, refused with the field's name where it does not fit, answered once. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { OnElicitation } from '@interlude-ai/client/answer-questions.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { ask, consumers, questionsIn, textIn } from '../../packages/client/test/ai-sdk/consumers.ts';
import { optionsFor } from '../../packages/client/test/ai-sdk/service-options.ts';
import { createChatClient, versions, question } from '../clients/chat-client.ts';
import { createOpenAI, say } from '../clients/openai-client.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { useAskingService } from './asking-service.ts';

const setup = useAskingService();
const fields = { city: { type: 'string', minLength: 3 }, nights: { type: 'integer', default: 2 } };
const more = { required: ['city'] };
const call = callOf(['ask', {}]);
const wrong = { action: 'accept', content: { city: 'L' } } as const;
const right = { action: 'accept', content: { city: 'Lisbon', nights: 3 } } as const;
const schema = { properties: { city: { minLength: 3 }, nights: { default: 2 } }, ...more };

beforeEach(() => setup.server.play(asks({ city: form('Which city?', fields, more) }, 's1')));

/** Over HTTP, as a page does beside its stream. */
async function answerIn(conversationId: string, elicitationId: string): Promise<void> {
  const refused = await setup.alice.answer({ conversationId, elicitationId, ...wrong });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/content/city' }] } });
  expect((await setup.alice.answer({ conversationId, elicitationId, ...right })).status).toBe(200);
}

function expectAnswered(): void {
  const answers = setup.server.calls.map(({ params }) => params.inputResponses);
  expect(answers).toEqual([undefined, { city: right }]);
}

test.each(versions)('`useChat` of version %i', async (version) => {
  const conversation = randomUUID();
  setup.service.begun(conversation);
  const { baseUrl } = setup.service;
  const token = await setup.service.token('alice');
  const chat = createChatClient(version, { baseUrl, token, conversation });
  const over = chat.send(call);
  const asked = await question(chat, 'pending');
  expect(asked).toMatchObject({ mode: 'form', message: 'Which city?', requestedSchema: schema });
  await answerIn(conversation, asked.elicitationId);
  await over;
  expect(chat.error).toBeUndefined();
  expect(await question(chat, 'accept')).toMatchObject({ elicitationId: asked.elicitationId });
  expect(chat.parts()).toContainEqual(expect.objectContaining({ type: 'text', text: 'done' }));
  expectAnswered();
});

test('OpenAI’s own client', async () => {
  const openai = await createOpenAI(setup.service, 'alice', { supports: 'form' });
  const { data: stream, response } = await openai.chat.completions.create(say(call)).withResponse();
  const statuses: string[] = [];
  let text = '';
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    if (!('elicitation' in chunk)) continue;
    const shown = chunk.elicitation as ElicitationEvent;
    statuses.push(shown.status);
    if (shown.status !== 'pending') continue;
    expect(shown).toMatchObject({ mode: 'form', message: 'Which city?', requestedSchema: schema });
    await answerIn(response.headers.get('x-conversation-id') ?? '', shown.elicitationId);
  }
  expect([statuses, text]).toEqual([['pending', 'accept'], 'done']);
  expectAnswered();
});

test.each(consumers)('`@interlude-ai/client/ai-sdk` for version $version', async (consumer) => {
  const shown: unknown[] = [];
  const onElicitation: OnElicitation = (asked) => {
    shown.push(asked);
    return right;
  };
  const options = await optionsFor(setup.service);
  const { finished } = ask(consumer, { ...options, onElicitation }, call);
  expect(questionsIn(await finished).map(({ status }) => status)).toEqual(['pending', 'accept']);
  expect(textIn(await finished)).toContain('done');
  expect(shown).toMatchObject([{ mode: 'form', message: 'Which city?', requestedSchema: schema }]);
  expectAnswered();
});
