/** The AI SDK's provider for OpenAI-compatible servers against the whole service. */
import { randomUUID } from 'node:crypto';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { beforeEach, expect, test } from 'vitest';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const { service } = useService();
beforeEach(() => service.tracker.revoke('alice'));

async function agent(user: 'alice' | 'bob', headers: Record<string, string> = {}) {
  const interlude = createOpenAICompatible({
    name: 'interlude',
    baseURL: `${service.baseUrl}/run/v1`,
    apiKey: await service.token(user),
    headers,
    includeUsage: true,
  });
  return interlude('assistant');
}

const questionIn = (raw: unknown) =>
  typeof raw === 'object' && raw !== null && 'elicitation' in raw
    ? (raw.elicitation as ElicitationEvent & { mode: 'url' })
    : undefined;

test('streamText finds the question among the raw chunks, and the text has nothing of it', async () => {
  const model = await agent('alice', { 'x-supports-elicitation': 'url' });
  const result = streamText({ model, prompt: 'list my open issues', include: { rawChunks: true } });
  const statuses: string[] = [];
  const others = new Set<string>();
  for await (const part of result.stream) {
    if (part.type !== 'raw') others.add(part.type);
    const question = part.type === 'raw' ? questionIn(part.rawValue) : undefined;
    if (question) statuses.push(question.status);
    if (question?.status === 'pending') await connectAccount('alice', question.url);
  }
  expect(statuses).toEqual(['pending', 'accept']);
  expect([...others].toSorted()).toEqual([
    'finish',
    'finish-step',
    'start',
    'start-step',
    'text-delta',
    'text-end',
    'text-start',
  ]);
  expect(await result.text).toMatch(/^Here they are: #\d+ /);
  expect(await result.finishReason).toBe('stop');
  const { inputTokens = 0, outputTokens = 0, totalTokens } = await result.usage;
  expect(outputTokens).toBeGreaterThan(0);
  expect(totalTokens).toBe(inputTokens + outputTokens);
});

test('streamText without the header gets a clean answer', async () => {
  const model = await agent('alice');
  const result = streamText({ model, prompt: 'list my open issues', include: { rawChunks: true } });
  const raw: unknown[] = [];
  for await (const part of result.stream) if (part.type === 'raw') raw.push(part.rawValue);
  expect(await result.text).toMatch(/Tracker/);
  expect(JSON.stringify(raw)).not.toMatch(/elicitation|auth\/connect/);
});

test('generateText is answered without a question, whatever its headers say', async () => {
  const model = await agent('alice', { 'x-supports-elicitation': 'true' });
  const { text, finishReason, usage } = await generateText({
    model,
    instructions: 'Be brief.',
    prompt: 'list my open issues',
  });
  expect(text).toMatch(/Tracker/);
  expect(finishReason).toBe('stop');
  expect(usage.outputTokens).toBeGreaterThan(0);
});

test('a conversation goes on when it is named among the options of the provider', async () => {
  const model = await agent('bob');
  const conversationId = randomUUID();
  const providerOptions = { interlude: { conversationId } };
  for (const prompt of ['hello', 'and now?']) {
    const { text, response } = await generateText({ model, prompt, providerOptions });
    expect(text).toBe(`You said: ${prompt}`);
    expect(response.headers?.['x-conversation-id']).toBe(conversationId);
  }
  const kept = await service.storage.messages.list({ tenant: 'demo', conversation: conversationId });
  expect(kept).toHaveLength(4);
});
