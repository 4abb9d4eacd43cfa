import { APICallError, StreamProviderError } from 'ai';
import { describe, expect, test } from 'vitest';
import { classifyModelError, ModelStalledError } from '../../src/models/model-failure.ts';
import { ModelConfigError } from '../../src/models/provider.ts';

const model = { spec: 'openai-compatible:small', keyVariable: 'MODEL_API_KEY' };
const secretWords = 'sk-secret tell nobody';

function answered(
  status: number,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
) {
  return new APICallError({
    message: secretWords,
    url: `http://user:${'pw'}@models.test:9000/v1/chat/completions?api_key=${'sk-secret'}`,
    requestBodyValues: { messages: [secretWords] },
    statusCode: status,
    responseHeaders: headers,
    responseBody: JSON.stringify(body ?? { error: { message: secretWords } }),
  });
}

const openAI = (code: string) => ({ error: { message: secretWords, type: 'x', code } });
const anthropic = (type: string) => ({ type: 'error', error: { type, message: secretWords } });
const unreachable = new APICallError({
  message: 'Cannot connect',
  url: 'http://models.test/v1',
  requestBodyValues: {},
});

describe('what a model call can fail with', () => {
  test.each([
    ['429', answered(429), 'ModelRateLimited', true],
    [
      '429 because the money is gone',
      answered(429, { body: openAI('insufficient_quota') }),
      'ModelQuotaExhausted',
      false,
    ],
    ['402', answered(402), 'ModelQuotaExhausted', false],
    ['500', answered(500), 'ModelUnavailable', true],
    ['502', answered(502), 'ModelUnavailable', true],
    ['503', answered(503), 'ModelUnavailable', true],
    ['529, overloaded', answered(529, { body: anthropic('overloaded_error') }), 'ModelUnavailable', true],
    ['408', answered(408), 'ModelUnavailable', true],
    ['400, overloaded', answered(400, { body: anthropic('overloaded_error') }), 'ModelUnavailable', true],
    ['403 with server_error', answered(403, { body: openAI('server_error') }), 'ModelUnavailable', true],
    [
      '400, unavailable',
      answered(400, { body: openAI('temporarily_unavailable') }),
      'ModelUnavailable',
      true,
    ],
    [
      '401 with a rate limit',
      answered(401, { body: openAI('rate_limit_exceeded') }),
      'ModelRateLimited',
      true,
    ],
    ['a redirect', answered(302), 'ModelRefusedRequest', false],
    ['401', answered(401), 'ModelUnauthorized', false],
    ['403', answered(403), 'ModelUnauthorized', false],
    ['400', answered(400), 'ModelRefusedRequest', false],
    ['404', answered(404), 'ModelRefusedRequest', false],
    ['422', answered(422), 'ModelRefusedRequest', false],
    [
      '400 for a history that is too long',
      answered(400, { body: openAI('context_length_exceeded') }),
      'ModelContextTooLong',
      false,
    ],
    ['413', answered(413), 'ModelContextTooLong', false],
    [
      '400 by a content filter',
      answered(400, { body: openAI('content_filter') }),
      'ModelContentPolicy',
      false,
    ],
    ['a 200 that cannot be read', answered(200), 'ModelUnavailable', true],
    ['no connection', unreachable, 'ModelUnavailable', true],
    ['a broken connection', new TypeError('terminated'), 'ModelUnavailable', true],
    ['silence', new ModelStalledError('silent'), 'ModelUnavailable', true],
    [
      'overload announced in the stream',
      new StreamProviderError({ message: secretWords, type: 'overloaded_error' }),
      'ModelUnavailable',
      true,
    ],
    [
      'a rate limit announced in the stream',
      new StreamProviderError({ message: secretWords, type: 'rate_limit_error' }),
      'ModelRateLimited',
      true,
    ],
    [
      'a refusal announced in the stream',
      new StreamProviderError({ message: secretWords, type: 'invalid_request_error' }),
      'ModelRefusedRequest',
      false,
    ],
    ['a configuration that cannot work', new ModelConfigError('Set X.'), 'ModelMisconfigured', false],
    ['something that is no error', 'boo', 'ModelUnavailable', true],
  ] as const)('%s', (_, error, type, retry) => {
    const trouble = classifyModelError(error, model);
    expect(trouble).toMatchObject({ type, retry });
    const { said, ...ours } = trouble;
    expect(JSON.stringify(ours)).not.toMatch(/secret|nobody|api_key|pw/);
    expect(said ?? '').not.toMatch(/api_key|pw/);
    expect(trouble.message).toMatch(/\.$/);
    // Nobody who waits for an answer can do anything about a model, its address or its key.
    expect(trouble.message).not.toMatch(/model|MODEL|agents file|baseURL|https?:|\d/i);
  });

  test('the operator is told model, host, status, the remedy and what was said', () => {
    expect(classifyModelError(answered(401), model)).toMatchObject({
      message:
        'The assistant cannot answer because of a problem in its set-up. Tell the operator of this service.',
      forOperator:
        'The model openai-compatible:small at models.test:9000 refused our key (401). Check the key in MODEL_API_KEY.',
    });
    expect(classifyModelError(answered(403), { ...model, keyVariable: null }).forOperator).toContain(
      'apiKeyEnv',
    );
    const unknown = answered(404, { body: { error: { message: 'The model `small` does not exist' } } });
    expect(classifyModelError(unknown, model)).toMatchObject({
      forOperator: expect.stringContaining("Check the model's name and the provider's baseURL"),
      said: 'The model `small` does not exist',
    });
    expect(classifyModelError(new ModelConfigError('Set X.'), model).forOperator).toBe('Set X.');
  });

  test.each([
    ['Incorrect API key provided: sk-abcdef1234567890.', 'Incorrect API key provided: [hidden].'],
    [
      `Invalid 'messages[0]': '${'words of a user '.repeat(8)}' is too long`,
      `Invalid 'messages[0]': "…" is too long`,
    ],
    ['one\n\u001b[31mtwo', 'one [31mtwo'],
    ['x '.repeat(500), 'x '.repeat(150)],
  ])('of what a provider says, "%s" is logged as "%s"', (words, expected) => {
    const error = answered(400, { body: { error: { message: words } } });
    expect(classifyModelError(error, model).said).toBe(expected);
  });

  test.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a fraction of a second', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9_000],
    ['milliseconds, which are more exact', { 'retry-after': '8', 'retry-after-ms': '7300' }, 7_300],
    ['longer than we wait', { 'retry-after': '86400' }, 60_000],
    ['a date in the past', { 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 0],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('a rate limit with %s says how long to wait', (_, headers, expected) => {
    const error = answered(429, { headers: headers as Record<string, string> });
    expect(classifyModelError(error, model, Date.UTC(2026, 0, 1)).retryAfterMs).toBe(expected);
  });
});
