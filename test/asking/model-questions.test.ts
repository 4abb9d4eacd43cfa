/** `ask_user`: the model's own questions, through whole turns; the clock is Temporal's test clock. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { ChatStream, Chunk } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { idOf, untilWaiting } from '../workflows/waiting.ts';

let environment: TestWorkflowEnvironment;
let service: Service;
let alice: Caller;

beforeAll(async () => {
  environment = await createTimeSkipping();
  const temporal = temporalOf(environment);
  service = await startService({ temporal });
  alice = await service.as('alice');
});
afterAll(async () => {
  await service.stop();
  await environment.teardown();
});

const form = {
  message: 'Where shall we go?',
  schema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', minLength: 2 },
      days: { type: 'integer', title: 'Days', default: 2 },
    },
    required: ['city'],
  },
};
const call = (...inputs: unknown[]) =>
  inputs.map((input) => `call ask_user ${JSON.stringify(input)}`).join('\n');
const ask = (text: string, options: object = {}) =>
  alice.chat(text, { agentId: 'interviewer', conversation: randomUUID(), ...options });
/** The answer to the question with these words. */
async function pending(stream: ChatStream, message: string) {
  const { data } = await stream.until(
    ({ data }) => (data as { message?: string } | undefined)?.message === message,
  );
  const { elicitationId } = data as { elicitationId: string };
  return { elicitationId, action: 'accept' as const, content: { city: 'Rome' } };
}
const errorsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));

test('the user is shown the form, and the model reads what was filled in', async () => {
  const conversation = randomUUID();
  const stream = await ask(call(form), { conversation });
  const question = await stream.question('pending');
  expect(question).toMatchObject({
    mode: 'form',
    message: form.message,
    requestedSchema: form.schema,
    context: { trigger: 'model_question', agent: 'Interviewer', toolName: 'ask_user' },
  });
  expect(question.context).not.toHaveProperty('server');
  const { elicitationId } = question;
  const wrong = await alice.answer({
    conversationId: conversation,
    elicitationId,
    action: 'accept',
    content: { city: 'L' },
  });
  expect(wrong.status).toBe(422);
  const content = { city: 'Lisbon-canary', days: 3 };
  const reply = await alice.answer({
    conversationId: conversation,
    elicitationId,
    action: 'accept',
    content,
  });
  expect(reply.status).toBe(200);
  const chunks = await stream.finished();
  expect(chunks.find(({ type }) => type === 'tool-output-available')).toMatchObject({
    output: { structuredContent: content },
  });
  expect(stream.text()).toContain(JSON.stringify(content));

  const { events } = await environment.client.workflow
    .getHandle(idOf({ conversation, stream }))
    .fetchHistory();
  const payloads = JSON.stringify(events, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );
  expect(payloads).not.toContain('Lisbon-canary');
  expect(payloads).not.toContain('Where shall we go');
});

test.each([
  ['decline', 'chose not to answer'],
  ['cancel', 'closed the form'],
])('%s: the model is told so', async (action, words) => {
  const conversation = randomUUID();
  const stream = await ask(call(form), { conversation });
  const { elicitationId } = await stream.question('pending');
  await alice.answer({ conversationId: conversation, elicitationId, action });
  expect(errorsIn(await stream.finished())).toEqual([expect.stringContaining(words)]);
});

test('nobody answers: the model is told that the time was up', async () => {
  const conversation = randomUUID();
  const stream = await ask(call(form), { conversation });
  await stream.question('pending');
  await untilWaiting({ temporal: environment }, { conversation, stream });
  await environment.sleep('11 minutes');
  expect(errorsIn(await stream.finished())).toEqual([expect.stringContaining('nobody answered')]);
});

describe('nobody can be asked', () => {
  test('the client shows no forms: the model gets the question as text', async () => {
    const stream = await ask(call(form), { supports: 'url' });
    const [error] = errorsIn(await stream.finished());
    expect(error).toContain('cannot show a form');
    expect(error).toContain(
      'Where shall we go?\n- City (text; required)\n- Days (whole number; optional; if left out: 2)',
    );
  });
});

describe('what is no question', () => {
  const properties = form.schema.properties;
  test.each([
    [
      'a secret field',
      { ...form, schema: { ...form.schema, properties: { ...properties, password: { type: 'string' } } } },
      'asks for a secret: "password"',
    ],
    [
      'a field that is a secret by its format',
      {
        ...form,
        schema: {
          ...form.schema,
          properties: { ...properties, word: { type: 'string', format: 'password' } },
        },
      },
      'asks for a secret: "word"',
    ],
    [
      'a field that is a secret by its mark',
      {
        ...form,
        schema: { ...form.schema, properties: { ...properties, word: { type: 'string', writeOnly: true } } },
      },
      'asks for a secret: "word"',
    ],
    [
      'a message for a secret',
      { ...form, message: 'What is your password?' },
      'words of the form ask for a secret',
    ],
    ['a link', { ...form, message: 'Is https://rome.example the place?' }, 'The message has a link in it'],
    [
      'a link in a field',
      {
        ...form,
        schema: {
          ...form.schema,
          properties: { city: { type: 'string', description: 'See http://a.example' } },
        },
      },
      'The field "city" has a link in it',
    ],
    [
      'a nested schema',
      { ...form, schema: { type: 'object', properties: { place: { type: 'object', properties: {} } } } },
      'place',
    ],
    ['no field', { ...form, schema: { type: 'object', properties: {} } }, 'no fields'],
    ['no message', { schema: form.schema }, '"message"'],
    ['no schema', { message: 'Hm?' }, '"schema"'],
  ])('%s: nobody is asked, and the model is told why', async (_, input, words) => {
    const chunks = await (await ask(call(input))).finished();
    expect(errorsIn(chunks)).toEqual([expect.stringMatching(/^Nobody was asked\. /)]);
    expect(errorsIn(chunks)[0]).toContain(words);
    expect(chunks.some(({ type }) => type === 'data-elicitation-request')).toBe(false);
  });
});

test('more than a turn allows are not asked', async () => {
  const conversation = randomUUID();
  const stream = await ask(
    call(form, { ...form, message: 'And then?' }, { ...form, message: 'And after that?' }),
    {
      conversation,
    },
  );
  await alice.answer({ ...(await pending(stream, form.message)), conversationId: conversation });
  await alice.answer({ ...(await pending(stream, 'And then?')), conversationId: conversation });
  const chunks = await stream.finished();
  expect(errorsIn(chunks)).toEqual([expect.stringContaining('as many forms as are allowed')]);
  expect(chunks.filter(({ type }) => type === 'tool-output-available')).toHaveLength(2);
});

test('two questions of a turn, answered in one request of the client', async () => {
  const conversationId = randomUUID();
  const stream = await ask(call(form, { ...form, message: 'And then?' }), { conversation: conversationId });
  const first = await pending(stream, form.message);
  const second = { ...(await pending(stream, 'And then?')), action: 'decline', content: undefined } as const;
  const client = createClient({ baseUrl: service.baseUrl, token: await service.token('alice') });
  const { items } = await client.answerAll({ conversationId, responses: [first, second] });
  expect(items).toMatchObject([
    { elicitationId: first.elicitationId, httpStatus: 200, receipt: { status: 'accept', duplicate: false } },
    {
      elicitationId: second.elicitationId,
      httpStatus: 200,
      receipt: { status: 'decline', duplicate: false },
    },
  ]);
  const chunks = await stream.finished();
  expect(errorsIn(chunks)).toEqual([expect.stringContaining('chose not to answer')]);
  expect(chunks.filter(({ type }) => type === 'tool-output-available')).toHaveLength(1);
  const again = await client.answerAll({ conversationId, responses: [first] });
  expect(again.items).toMatchObject([{ httpStatus: 200, receipt: { status: 'accept', duplicate: true } }]);
});

test('an agent whose file does not say so has no such tool', async () => {
  const stream = await ask(call(form), { agentId: 'assistant' });
  const chunks = await stream.finished();
  expect(stream.text()).toContain('ask_user');
  expect(chunks.map(({ type }) => type)).not.toContain('tool-input-available');
});
