import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Reply } from '../../servers/openai-server.ts';
import { openModelStep, turn } from './model-step.ts';

async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
}

const openAIError = (code: string) => ({ error: { code, message: 'told to fail' } });

describe('a model that answers with an error', () => {
  test.each<[string, Omit<Extract<Reply, { kind: 'status' }>, 'kind'>, Partial<ApplicationFailure>]>([
    [
      'ModelRateLimited',
      { status: 429, headers: { 'retry-after': '7' } },
      { nextRetryDelay: 7_000, category: 'BENIGN' },
    ],
    ['ModelQuotaExhausted', { status: 429, body: openAIError('insufficient_quota') }, { nonRetryable: true }],
    ['ModelUnavailable', { status: 500 }, { nonRetryable: false }],
    ['ModelUnavailable', { status: 503, headers: { 'retry-after': '2' } }, { nextRetryDelay: 2_000 }],
    ['ModelUnauthorized', { status: 401 }, { nonRetryable: true }],
    ['ModelRefusedRequest', { status: 400 }, { nonRetryable: true }],
    ['ModelRefusedRequest', { status: 404 }, { nonRetryable: true }],
    ['ModelRefusedRequest', { status: 422 }, { nonRetryable: true }],
    ['ModelContentPolicy', { status: 400, body: openAIError('content_filter') }, { nonRetryable: true }],
  ])('%s: %o', async (type, reply, expected) => {
    await using it = await openModelStep({ kind: 'status', ...reply });
    const failure = await failureOf(it.callModel());
    expect(failure).toMatchObject({ type, nonRetryable: false, ...expected });
    // One attempt is one request: repeating is Temporal's business.
    expect(it.server.requests).toHaveLength(1);
    expect(`${failure.message} ${failure.stack} ${it.logged()}`).not.toMatch(/sk-secret|open issues/);
    // What it was, its host and the provider's words are for the log and not for the user.
    expect(`${failure.message} ${failure.stack}`).not.toMatch(/told to fail|127\.0\.0\.1|openai-compatible/);
    const logged = it
      .logged()
      .split('\n')
      .find((line) => line.includes('model call failed'));
    expect(JSON.parse(logged ?? '{}')).toMatchObject({
      type,
      status: reply.status,
      msg: expect.stringMatching(
        /model call failed: The model openai-compatible:small at 127\.0\.0\.1:\d+ .*\./,
      ),
    });
    expect(logged).toContain(reply.body === undefined ? 'model call failed' : 'told to fail');
    expect(failure.cause).toBeUndefined();
    expect(await it.storage.messages.list(turn)).toHaveLength(1);
  });
});

describe('a model that fails on the way', () => {
  test.each<[string, Reply]>([
    ['breaks off in the middle', { kind: 'cut', chunks: ['You ', 'have '] }],
    [
      'reports an error in the middle',
      { kind: 'error-chunk', chunks: ['You '], error: { message: 'boom', type: 'server_error' } },
    ],
    ['falls silent in the middle', { kind: 'hang', chunks: ['You '] }],
    ['never says anything', { kind: 'hang', chunks: [] }],
    ['answers with nothing', { kind: 'text', chunks: [] }],
  ])('%s is asked again, and its first words are void', async (_, reply) => {
    await using it = await openModelStep(reply, { kind: 'text', chunks: ['You have none.'] });
    const failure = await failureOf(it.callModel({ silenceMs: 150 }));
    expect(failure.type).toMatch(/^Model(Unavailable|EmptyAnswer)$/);
    expect(failure.nonRetryable).toBe(false);
    const said = await it.story();

    expect(await it.callModel({ attempt: 2 })).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
    const answer = ['start-step', 'text-start', 'text-delta: You have none.', 'text-end', 'finish-step'];
    expect(await it.story()).toEqual([...(said.length > 0 ? ['reset-step'] : []), ...answer]);
    const ids = (await it.events()).flatMap((event) => (event.type === 'text-start' ? [event.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('what it said before it broke off is in the log', async () => {
    await using it = await openModelStep({ kind: 'cut', chunks: ['You '] });
    await failureOf(it.callModel());
    expect(await it.story()).toEqual(['start-step', 'text-start', 'text-delta: You ']);
  });

  test('a refusal without a word, or no room for one, is final', async () => {
    await using it = await openModelStep(
      { kind: 'text', chunks: [], finish: 'content_filter' },
      { kind: 'text', chunks: [], finish: 'length' },
    );
    expect(await failureOf(it.callModel())).toMatchObject({ type: 'ModelContentPolicy', nonRetryable: true });
    const failure = await failureOf(it.callModel({ attempt: 2 }));
    expect(failure).toMatchObject({ type: 'ModelEmptyAnswer', nonRetryable: true });
  });

  test('a model that is not there is named with its host, in the log', async () => {
    await using it = await openModelStep();
    await using elsewhere = await openModelStep();
    await elsewhere.server.stop();
    const failure = await failureOf(elsewhere.callModel());
    expect(failure).toMatchObject({ type: 'ModelUnavailable', nonRetryable: false });
    expect(elsewhere.logged()).toContain(new URL(elsewhere.server.baseURL).host);
    expect(it.server.requests).toEqual([]);
  });

  test('what a model lacks that is not configured is in the log', async () => {
    await using it = await openModelStep();
    const failure = await failureOf(it.callModel({ model: 'scripted' }));
    expect(failure).toMatchObject({ type: 'ModelMisconfigured', nonRetryable: true });
    expect(it.logged()).toContain('providers.scripted.script');
  });

  test('an agent that is gone is a clear end', async () => {
    await using it = await openModelStep();
    const failure = await failureOf(it.callModel({ agents: new Map() }));
    expect(failure).toMatchObject({ type: 'UnknownAgent', nonRetryable: true });
    expect(it.server.requests).toEqual([]);
  });
});

describe('an attempt that is repeated', () => {
  test('after it was kept, though nobody heard of it, answers with that and calls no model', async () => {
    const calls = [{ id: 'a', name: 'tracker__list_issues', arguments: '{}' }];
    await using it = await openModelStep({ kind: 'tool-calls', calls });
    const { steps } = it.storage;
    const keep: typeof steps.keep = async (...kept) => {
      await steps.keep(...kept);
      throw new Error('the process died here');
    };
    const dying: Storage = { ...it.storage, steps: { ...steps, keep } };
    await expect(it.callModel({ storage: dying })).rejects.toThrow('the process died here');
    const before = await it.events();

    expect(await it.callModel({ attempt: 2 })).toEqual({
      finish: 'tool-calls',
      toolCalls: [
        {
          kind: 'server',
          toolCallId: 'a',
          toolName: 'tracker__list_issues',
          server: 'tracker',
          tool: 'list_issues',
        },
      ],
    });
    expect(it.server.requests).toHaveLength(1);
    expect(await it.storage.toolCalls.get(turn, 'a')).toMatchObject({ state: 'requested' });
    expect(await it.events()).toEqual(before);
  });

  test('a database that fails is not the model’s fault, and the model is let go', async () => {
    await using it = await openModelStep({ kind: 'hang', chunks: ['ok'] });
    const arrival = it.server.next();
    const append = () => arrival.then(() => Promise.reject(new Error('disk full')));
    const broken: Storage = { ...it.storage, steps: { ...it.storage.steps, append } };
    const running = it.callModel({ storage: broken });
    const { ended } = await arrival;
    await expect(running).rejects.toThrow('disk full');
    expect(await ended).toBe('left');
    expect(it.logged()).not.toContain('model call failed');
  });
});
