/** Questions that an agent's tools ask, where the agent is a language model of the AI SDK; on the whole service. */
import { generateText, readUIMessageStream, streamText, toUIMessageStream } from 'ai';
import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createInterlude } from '../../src/ai-sdk/index.ts';
import type { InterludeOptions } from '../../src/ai-sdk/index.ts';
import { connectAccount } from '../../../../test/service/connect-account.ts';
import { ask, newest, older, endIn, errorIn, questionsIn, read, textIn, typesIn } from './consumers.ts';
import { both, connect, listing, newConversation, useInterlude } from './service-options.ts';

/** The newest AI SDK daily, the older ones in the full suite. */
const consumers = inject('suite') === 'daily' ? newest : older;
const { service, options } = useInterlude();
/** No account is connected. */
beforeEach(async () => {
  await service.storage.connections.remove({ tenant: 'demo', user: 'alice', server: 'tracker' });
});
// An account that a later test connects would let turns go on that still wait.
afterEach(() => service.endTurns());

describe.each(consumers)('AI SDK $version', (consumer) => {
  const { streamText: stream, generateText: generate, modelOf } = consumer;

  test('a question goes to the handler, and the answer goes on after the tool ran', async () => {
    const asked: string[] = [];
    const { result } = ask(
      consumer,
      {
        ...options,
        onElicitation(elicitation, context) {
          asked.push(`${elicitation.mode} ${elicitation.context.server}`);
          return connect(elicitation, context);
        },
      },
      listing,
    );
    expect(await result.text).toMatch(/^Here they are: #1 /);
    expect(asked).toEqual(['url tracker']);
  });

  test('what the handler decides is the answer', async () => {
    const before = service.tracker.calls.length;
    const declining: InterludeOptions = { ...options, onElicitation: () => ({ action: 'decline' }) };
    const { finished } = ask(consumer, declining, listing);
    expect(questionsIn(await finished).map(({ status }) => status)).toEqual(['pending', 'decline']);
    expect(textIn(await finished)).toMatch(/./);
    expect(service.tracker.calls.length).toBe(before);
  });

  test('a question surfaces in the stream, and again when it was answered', async () => {
    const conversationId = newConversation(service);
    const showing = { ...options, capabilities: both };
    const { question, finished } = ask(consumer, showing, listing, { interlude: { conversationId } });
    const pending = await question('pending');
    expect(pending).toMatchObject({ type: 'elicitation-request', conversationId, mode: 'url' });
    if (pending.mode !== 'url') throw new Error('it is one to open');
    await connectAccount('alice', pending.url);
    const parts = await finished;
    expect(questionsIn(parts).map(({ elicitationId, status }) => [elicitationId, status])).toEqual([
      [pending.elicitationId, 'pending'],
      [pending.elicitationId, 'accept'],
    ]);
    expect(textIn(parts)).toMatch(/^Here they are: #1 /);
  });

  test('a consumer that asks for nothing in particular reads a question without stumbling', async () => {
    const model = modelOf({ ...options, onElicitation: connect });
    const parts = await read(stream({ model, prompt: listing }).fullStream).finished;
    expect(typesIn(parts)).toEqual([
      'start',
      'start-step',
      ...(consumer.version < 7 ? [] : ['custom']),
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
  });

  test('who can show no questions is asked none', async () => {
    const conversationId = newConversation(service);
    const { finished } = ask(consumer, options, listing, { interlude: { conversationId } });
    const parts = await finished;
    expect(questionsIn(parts)).toEqual([]);
    expect(endIn(parts).finishReason).toBe('stop');
    const path = `/run/v1/conversations/${conversationId}/elicitations`;
    const { body } = await (await service.as('alice')).request('GET', path);
    expect(body).toMatchObject({ items: [] });
  });

  test('generateText waits for the whole answer, questions included', async () => {
    const model = modelOf({ ...options, onElicitation: connect });
    const { text, usage, finishReason } = await generate({ model, prompt: listing });
    expect(text).toMatch(/^Here they are: #1 /);
    expect(finishReason).toBe('stop');
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  test('a turn that somebody stops is no error: it ends for another reason', async () => {
    const interlude = { conversationId: newConversation(service) };
    const { question, finished } = ask(consumer, { ...options, capabilities: both }, listing, {
      interlude,
    });
    await question('pending');
    await (await service.as('alice')).cancel(interlude.conversationId);
    const parts = await finished;
    expect(errorIn(parts)).toBeUndefined();
    expect(endIn(parts)).toMatchObject({ finishReason: 'other', status: 'cancelled' });
    expect(questionsIn(parts).at(-1)?.status).toBe('cancel');
  });

  test('a newer message takes the place of a turn that waits, and that one says so', async () => {
    const interlude = { conversationId: newConversation(service) };
    const { question, finished } = ask(consumer, { ...options, capabilities: both }, listing, {
      interlude,
    });
    await question('pending');
    const newer = ask(consumer, options, 'hello', { interlude });
    expect(textIn(await newer.finished)).toBe('You said: hello');
    expect(endIn(await finished)).toMatchObject({ finishReason: 'other', status: 'superseded' });
  });

  test('who looks away leaves the turn alone', async () => {
    const leaving = new AbortController();
    const { question, finished } = ask(consumer, { ...options, capabilities: both }, listing, {
      interlude: { conversationId: newConversation(service) },
      abortSignal: leaving.signal,
    });
    const { elicitationId } = await question('pending');
    leaving.abort();
    expect((await finished).at(-1)).toMatchObject({ type: 'abort' });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  });

  test('who looks away and wants the turn stopped has it stopped', async () => {
    const conversationId = newConversation(service);
    const leaving = new AbortController();
    const { question, finished } = ask(
      consumer,
      { ...options, capabilities: both, onAbort: 'cancel' },
      listing,
      { interlude: { conversationId }, abortSignal: leaving.signal },
    );
    await question('pending');
    const watching = await (await service.as('alice')).rejoin(conversationId);
    leaving.abort();
    expect((await finished).at(-1)).toMatchObject({ type: 'abort' });
    expect((await watching?.finished())?.at(-1)).toMatchObject({ type: 'abort' });
  });

  test('a handler that fails ends the answer with its error, and not the turn', async () => {
    const conversationId = newConversation(service);
    const failing: InterludeOptions = {
      ...options,
      onElicitation() {
        throw new Error('nobody at home');
      },
    };
    const parts = await ask(consumer, failing, listing, { interlude: { conversationId } }).finished;
    expect(errorIn(parts)).toMatchObject({ message: 'nobody at home' });
    expect(endIn(parts)).toMatchObject({ finishReason: 'error', status: 'lost' });
    const [{ elicitationId } = { elicitationId: '' }] = questionsIn(parts);
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  });
});

describe.runIf(consumers === newest)('AI SDK 7', () => {
  test('a question reaches the message of a chat as a part of ours', async () => {
    const interlude = createInterlude({ ...options, onElicitation: connect });
    const { stream } = streamText({ model: interlude('assistant'), prompt: listing });
    let message: UIMessage | undefined;
    for await (const state of readUIMessageStream({ stream: toUIMessageStream({ stream }) })) message = state;
    const questions = message?.parts.filter(({ type }) => type === 'custom');
    expect(questions).toEqual(
      ['pending', 'accept'].map((status) => ({
        type: 'custom',
        kind: 'interlude.elicitation-request',
        providerMetadata: {
          interlude: expect.objectContaining({ type: 'elicitation-request', mode: 'url', status }),
        },
      })),
    );
    expect(message?.parts.at(-1)).toMatchObject({
      type: 'text',
      text: expect.stringMatching(/^Here they are: #1 /),
      state: 'done',
    });
  });

  test('generateText has the question among its content, with what became of it', async () => {
    const interlude = createInterlude({ ...options, onElicitation: connect });
    const { content } = await generateText({ model: interlude('assistant'), prompt: listing });
    expect(content.map(({ type }) => type)).toEqual(['custom', 'text']);
    expect(content[0]).toMatchObject({ providerMetadata: { interlude: { status: 'accept' } } });
  });
});
