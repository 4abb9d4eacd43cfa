/**
 * An agent on the service, called as a language model. One call is one turn: all its steps and tool calls become one
 * answer.
 */
import { createPartTranslator, createWholeTranslator, toContent } from './parts.ts';
import type { AgentContent, AgentPart, Finish, PartTranslator, Warning } from './parts.ts';
import type { Call } from './call.ts';
import { openTurn } from './open-turn.ts';
import type { OpenTurn, TurnOptions } from './open-turn.ts';
import type { TurnView } from '../turn-view.ts';
import { fromFailedTurn, fromRefusal, readEnd, seenEnd, toFinishReason, toUsage } from './turn-end.ts';
import type { TurnEnd } from './turn-end.ts';

export interface Agent {
  generate(call: Call): Promise<Answer>;
  stream(call: Call): Promise<AnswerStream>;
}

export interface Answer extends Finish {
  content: AgentContent[];
  warnings: Warning[];
  response: { id?: string; modelId: string; headers: Record<string, string> };
}

interface AnswerStream {
  stream: ReadableStream<AgentPart>;
  response: { headers: Record<string, string> };
}

export function createAgent(agentId: string, options: TurnOptions): Agent {
  return {
    async generate(call) {
      const turn = await openTurn(agentId, options, call);
      const parts: AgentPart[] = [];
      for await (const part of readParts(turn, call, createWholeTranslator())) {
        if (part.type === 'error') throw part.error;
        parts.push(part);
      }
      const last = parts.at(-1);
      if (last?.type !== 'finish') throw new Error('An answer ends with its finish.');
      const { type: _, ...finish } = last;
      const { headers, warnings, first } = turn;
      const response = { ...(first.turnId !== null && { id: first.turnId }), modelId: agentId, headers };
      return { ...finish, content: toContent(parts), warnings, response };
    },

    async stream(call) {
      const turn = await openTurn(agentId, options, call);
      const parts = readParts(turn, call, createPartTranslator());
      return { stream: toPartStream(parts, turn), response: { headers: turn.headers } };
    },
  };
}

/**
 * A turn as the parts of an answer, from `stream-start` to `finish`. Always ends with `finish`, unless the consumer aborts:
 * then it throws the reason.
 */
async function* readParts(
  turn: OpenTurn,
  { abortSignal }: Pick<Call, 'abortSignal'>,
  { toParts, toEnds }: PartTranslator,
): AsyncGenerator<AgentPart, void> {
  const { agentId, first, reader, warnings, callError } = turn;
  let view = first;
  yield { type: 'stream-start', warnings };
  yield {
    type: 'response-metadata',
    ...(view.turnId !== null && { id: view.turnId }),
    modelId: agentId,
    timestamp: new Date(),
  };

  let failure: unknown;
  let end: TurnEnd = { status: 'lost' };
  try {
    for (let next: TurnView | undefined = first; next; next = await reader.next()) {
      view = next;
      yield* toParts(view);
    }
    end = await endOf(turn, view, abortSignal);
    if (end.status === 'failed') failure = fromFailedTurn(callError, view, end);
  } catch (error) {
    abortSignal?.throwIfAborted();
    failure = fromRefusal(callError, error);
  }
  yield* toEnds();
  if (failure !== undefined) yield { type: 'error', error: failure };
  const { conversationId, turnId } = view;
  yield {
    type: 'finish',
    finishReason: toFinishReason(end),
    usage: toUsage(end.usage),
    providerMetadata: { interlude: { conversationId, turnId, status: end.status } },
  };
}

const endWithinMs = 5_000;

/** A complete answer does not wait long for its usage. */
async function endOf(
  { client }: OpenTurn,
  view: TurnView,
  abortSignal: AbortSignal | undefined,
): Promise<TurnEnd> {
  const limit = AbortSignal.timeout(endWithinMs);
  try {
    return await readEnd(client, view, abortSignal ? AbortSignal.any([abortSignal, limit]) : limit);
  } catch {
    abortSignal?.throwIfAborted();
    return seenEnd(view);
  }
}

/** The SDK decides within this time what to do with an error. */
const decideWithinMs = 250;

/** Reads only as fast as the consumer. A consumer that cancels the stream does not stop the turn. */
function toPartStream(
  parts: AsyncGenerator<AgentPart, void>,
  { reader, willRepeat }: Pick<OpenTurn, 'reader' | 'willRepeat'>,
): ReadableStream<AgentPart> {
  let failure: unknown;
  let isDecided = Promise.resolve();
  let decide = () => {};
  let isLeft = false;

  return new ReadableStream<AgentPart>(
    {
      async pull(controller) {
        await isDecided;
        if (isLeft) return;
        const { done, value } = await parts.next();
        if (isLeft) return;
        if (done) return controller.close();
        if (value.type === 'error') {
          failure = value.error;
          // The SDK signals a repeated call by cancelling this stream, which is not possible once it has ended.
          isDecided = new Promise((resolve) => {
            const timer = setTimeout(resolve, decideWithinMs);
            decide = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        controller.enqueue(value);
      },
      cancel(reason) {
        isLeft = true;
        if (failure !== undefined && reason === failure) willRepeat();
        decide();
        reader.leave();
      },
    },
    { highWaterMark: 0 },
  );
}
