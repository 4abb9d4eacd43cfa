/** Turns that end otherwise than well, as OpenAI's own client and the AI SDK's providers see them. */
import { randomUUID } from 'node:crypto';
import { createOpenAI as createSdkOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  UnprocessableEntityError,
} from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { startService } from '../service/service.ts';
import {
  collect,
  createOpenAI,
  failureOf,
  questionIn,
  readAndConnect,
  say,
  textIn,
} from './openai-client.ts';
import { useService } from '../service/use-service.ts';

const { temporal, service } = useService();
let client: OpenAI;

beforeAll(async () => {
  client = await createOpenAI(service, 'alice', { supports: 'true' });
});

const read = async (request: object) =>
  collect(await client.chat.completions.create({ ...say(''), ...request, stream: true }));
const whole = (request: object) => client.chat.completions.create({ ...say(''), ...request, stream: false });

/** The stream up to its question, and the rest of it. */
async function untilAsked(conversationId: string, of = service, by = client) {
  of.begun(conversationId);
  const stream = await by.chat.completions.create(say('list my open issues', { conversationId }));
  const asked = Promise.withResolvers<string>();
  const reading = (async () => {
    for await (const chunk of stream) {
      const question = questionIn(chunk);
      if (question?.status === 'pending') asked.resolve(question.elicitationId);
    }
  })();
  reading.catch(asked.reject);
  return { elicitationId: await asked.promise, reading };
}

describe('a request that is refused', () => {
  test.each([
    [{ model: 'nobody' }, NotFoundError, 404, 'model_not_found', null],
    [{ tools: [{ type: 'function' }] }, BadRequestError, 400, 'invalid_request', 'tools'],
    [{ conversationId: 'a/b' }, BadRequestError, 400, 'invalid_request', 'conversationId'],
  ])(
    'with %j is an error of its class, whether streamed or not',
    async (more, Class, status, code, param) => {
      for (const request of [read, whole]) {
        const error = await failureOf(request({ ...say('hello'), ...more }));
        expect(error).toBeInstanceOf(Class);
        expect(error).toMatchObject({ status, code, param, type: 'invalid_request_error' });
      }
    },
  );

  test('without a valid token is an authentication error', async () => {
    const stranger = new OpenAI({ baseURL: `${service.baseUrl}/run/v1`, apiKey: 'wrong' });
    const error = await failureOf(stranger.models.list());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, type: 'authentication_error' });
  });

  test('because its Idempotency-Key is taken is an unprocessable entity', async () => {
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const named = async (text: string) => client.chat.completions.create(say(text), options);
    await collect(await named('hello'));
    expect(await failureOf(named('goodbye'))).toBeInstanceOf(UnprocessableEntityError);
  });
});

describe('a turn', () => {
  test('that makes room for a newer message ends in an error, and the newer one is answered', async () => {
    const conversationId = randomUUID();
    const { reading } = await untilAsked(conversationId);
    const chunks = await read(say('hello', { conversationId }));
    expect(textIn(chunks)).toBe('You said: hello');
    const error = await failureOf(reading);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'superseded', message: expect.stringContaining('newer message') });
  });

  test('that is cancelled ends in an error', async () => {
    const conversationId = randomUUID();
    const { reading } = await untilAsked(conversationId);
    const alice = await service.as('alice');
    expect(await alice.cancel(conversationId)).toMatchObject({ status: 200 });
    const error = await failureOf(reading);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'cancelled', message: 'The turn was cancelled.' });
  });

  test('that is at work is a conflict for another message, and makes room when told to', async () => {
    await readAndConnect(await client.chat.completions.create(say('list my open issues')));
    const conversationId = randomUUID();
    const held = service.tracker.faults.hold('before');
    const working = failureOf(whole(say('list my open issues', { conversationId })));
    await held.arrived;
    const impatient = await createOpenAI(service, 'alice');
    impatient.maxRetries = 0;
    const other = { ...say('hello', { conversationId }), stream: false } as const;
    const refused = await failureOf(impatient.chat.completions.create(other));
    expect(refused).toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({ code: 'turn_in_progress' });

    const request = { ...other, onBusy: 'cancel' };
    const { choices } = await impatient.chat.completions.create(request);
    expect(choices[0]?.message.content).toBe('You said: hello');
    held.release();
    const error = await working;
    expect(error).toMatchObject({ status: 410, code: 'cancelled' });
  });
});

describe('a turn that fails', () => {
  const prompt = 'go round in circles';
  const message = 'The agent stopped after 6 steps without finishing. Ask it to go on.';
  let providers: Record<string, ReturnType<ReturnType<typeof createOpenAICompatible>>>;

  beforeAll(async () => {
    await readAndConnect(await client.chat.completions.create(say('list my open issues')));
    const settings = { baseURL: `${service.baseUrl}/run/v1`, apiKey: await service.token('alice') };
    providers = {
      '@ai-sdk/openai-compatible': createOpenAICompatible({ name: 'interlude', ...settings })('assistant'),
      '@ai-sdk/openai': createSdkOpenAI(settings).chat('assistant'),
    };
  });

  /** How many tools ran while it was tried; six in one turn. */
  async function toolsRunIn(attempt: () => Promise<unknown>): Promise<number> {
    const before = service.tracker.calls.length;
    await attempt();
    return service.tracker.calls.length - before;
  }

  test('says so in the stream, after what it had said', async () => {
    const stream = await client.chat.completions.create(say(prompt));
    const chunks: Parameters<typeof textIn>[0] = [];
    const reading = (async () => {
      for await (const chunk of stream) chunks.push(chunk);
    })();
    const error = await failureOf(reading);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'MaxStepsReached', message });
    expect(textIn(chunks)).toMatch(/^Round 0\. \n\nRound 1\. /);
  });

  test('is not started again by the client that waits for one completion', async () => {
    const ran = await toolsRunIn(async () => {
      const error = await failureOf(whole(say(prompt)));
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({
        status: 424,
        code: 'MaxStepsReached',
        message: expect.stringContaining(message) as string,
      });
    });
    expect(ran).toBe(6);
  });

  test.each(['@ai-sdk/openai-compatible', '@ai-sdk/openai'])(
    'is not started again by %s either',
    async (name) => {
      const model = providers[name]!;
      const generated = await toolsRunIn(async () => {
        const error = await failureOf(generateText({ model, prompt }));
        expect(error).toMatchObject({ statusCode: 424, message });
      });
      expect(generated).toBe(6);
      const errors: unknown[] = [];
      const onError = ({ error }: { error: unknown }) => void errors.push(error);
      const streamed = await toolsRunIn(async () => {
        await streamText({ model, prompt, onError }).consumeStream();
      });
      expect([streamed, errors.length]).toEqual([6, 1]);
      expect(JSON.stringify(errors)).toContain('MaxStepsReached');
    },
  );
});

describe('a turn that ends before it has said anything', () => {
  test('is not started again by @ai-sdk/openai, which waits for the first output before it goes on', async () => {
    service.tracker.revoke('alice');
    const answered: Response[] = [];
    const first = Promise.withResolvers<Response>();
    const provider = createSdkOpenAI({
      baseURL: `${service.baseUrl}/run/v1`,
      apiKey: await service.token('alice'),
      headers: { 'x-supports-elicitation': 'true' },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        answered.push(response);
        first.resolve(response);
        return response;
      },
    });
    const errors: unknown[] = [];
    const result = streamText({
      model: provider.chat('assistant'),
      prompt: 'list my open issues',
      onError: ({ error }) => void errors.push(error),
    });
    const reading = result.consumeStream();
    const conversation = (await first.promise).headers.get('x-conversation-id') ?? '';
    service.begun(conversation);
    const alice = await service.as('alice');
    await (await alice.rejoin(conversation))?.question('pending');
    await alice.cancel(conversation);
    await reading;
    expect(answered).toHaveLength(1);
    expect(JSON.stringify(errors)).toContain('cancelled');
  });
});

describe('a service that closes', () => {
  test('says that the turn goes on, and whether asking again would join it', async () => {
    const closing = await startService({ temporal });
    const reader = await createOpenAI(closing, 'alice', { supports: 'true' });
    await readAndConnect(await reader.chat.completions.create(say('list my open issues')));
    const patient = await createOpenAI(closing, 'alice');
    patient.maxRetries = 0;
    const held: { release(): void }[] = [];
    async function atWork<T>(begin: () => Promise<T>): Promise<{ outcome: Promise<T> }> {
      const hold = closing.tracker.faults.hold('before');
      held.push(hold);
      const outcome = begin();
      await hold.arrived;
      return { outcome };
    }
    const request = say('list my open issues');

    const streamed = await atWork(async () =>
      failureOf(collect(await patient.chat.completions.create(request))),
    );
    const official = await atWork(() =>
      failureOf(patient.chat.completions.create({ ...request, stream: false })),
    );
    const authorization = `Bearer ${await closing.token('alice')}`;
    const plain = await atWork(() =>
      fetch(`${closing.baseUrl}/run/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ ...request, stream: false }),
      }),
    );
    const stopping = closing.stop();
    try {
      expect(await streamed.outcome).toMatchObject({
        code: 'turn_unfinished',
        message: expect.stringContaining('goes on') as string,
      });
      expect(await official.outcome).toMatchObject({ status: 503, code: 'unavailable' });
      const response = await plain.outcome;
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([424, 'false']);
      expect(await response.json()).toMatchObject({
        code: 'turn_unfinished',
        turnId: response.headers.get('x-turn-id'),
      });
    } finally {
      for (const { release } of held) release();
      await stopping;
    }
  });
});
