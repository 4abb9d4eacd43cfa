/** A form that a server asks in the middle of a turn, answered over HTTP as browsers and terminals spell things. */
import { randomUUID } from 'node:crypto';
import { acceptedContent, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startMcpServer } from '../../servers/mcp-server.ts';
import { askingEnv, callOf, nthQuestion, questionsIn, respond } from '../../service/asking.ts';
import { useService } from '../../service/use-service.ts';

const { alice } = useService({
  async needs(stack) {
    const server = await startMcpServer({ era: 'modern', build });
    stack.defer(() => server.stop());
    return { env: askingEnv(server.config.url) };
  },
});

/** Repeats its prompt. */
function build(): McpServer {
  const built = new McpServer({ name: 'asking', version: '1' });
  built.registerTool(
    'register',
    { description: 'Asks who comes', inputSchema: z.object({}) },
    (_, context) => {
      const { inputResponses } = context.mcpReq;
      if (inputResponse(inputResponses, 'guest').kind === 'missing')
        return inputRequired({
          inputRequests: {
            guest: inputRequired.elicit({
              message: 'Who comes?',
              requestedSchema: {
                type: 'object',
                properties: {
                  email: { type: 'string', format: 'email' },
                  nights: { type: 'integer', minimum: 1 },
                  vegetarian: { type: 'boolean' },
                  size: { type: 'string', enum: ['small', 'large'] },
                  note: { type: 'string' },
                },
                required: ['email', 'nights'],
              },
            }),
          },
        });
      const content = acceptedContent(inputResponses, 'guest', z.looseObject({}));
      return { content: [{ type: 'text', text: JSON.stringify(content) }] };
    },
  );
  return built;
}

async function asked() {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['register']), { conversation });
  const question = await nthQuestion(stream, 0);
  const answer = (content: object) => respond(alice, conversation, question, { action: 'accept', content });
  return { stream, answer };
}

test('the server gets what was meant, and nothing of what was left alone', async () => {
  const { stream, answer } = await asked();
  const form = { email: ' bob@example.com', nights: '42', vegetarian: 'on', size: '', note: '' };
  expect(await answer(form)).toMatchObject({ status: 200, body: { status: 'accept', duplicate: false } });
  await stream.finished();
  expect(JSON.parse(stream.text())).toEqual({ email: 'bob@example.com', nights: 42, vegetarian: true });
});

test('the same answer spelled differently is the same answer, and another one is not', async () => {
  const { stream, answer } = await asked();
  expect(await answer({ email: 'a@example.com', nights: '42', note: '' })).toMatchObject({ status: 200 });
  await stream.finished();
  expect(await answer({ nights: 42, email: 'a@example.com' })).toMatchObject({
    status: 200,
    body: { status: 'accept', duplicate: true },
  });
  expect(await answer({ nights: 43, email: 'a@example.com' })).toMatchObject({
    status: 409,
    body: { code: 'already_answered' },
  });
});

test('an answer that does not fit is told every wrong field, and the question waits for a better one', async () => {
  const { stream, answer } = await asked();
  const refused = await answer({ nights: '0', vegetarian: 'perhaps', size: 'huge', wishes: 'none' });
  expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_content' } });
  const errors = refused.body['errors'] as { pointer: string; detail: string }[];
  expect(errors.toSorted((one, other) => one.pointer.localeCompare(other.pointer))).toEqual([
    { pointer: '/content/email', detail: 'is required' },
    { pointer: '/content/nights', detail: 'must be at least 1' },
    { pointer: '/content/size', detail: 'must be one of: small, large' },
    { pointer: '/content/vegetarian', detail: 'must be yes or no (true or false)' },
    { pointer: '/content/wishes', detail: 'is not a field of this form; leave it out' },
  ]);
  for (const written of ['perhaps', 'huge', 'none'])
    expect(JSON.stringify(refused.body)).not.toContain(written);
  expect(questionsIn(stream)).toMatchObject([{ status: 'pending' }]);
  expect(await answer({ email: 'a@example.com', nights: 1 })).toMatchObject({ status: 200 });
  await stream.finished();
  expect(JSON.parse(stream.text())).toEqual({ email: 'a@example.com', nights: 1 });
});
