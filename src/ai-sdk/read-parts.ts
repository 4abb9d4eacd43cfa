/** A turn as the parts of an answer, from `stream-start` to `finish`. */
import type { TurnView } from '../client/turn-view.ts';
import type { AgentPart } from './agent-part.ts';
import { fromFailedTurn, fromRefusal } from './call-error.ts';
import type { Call } from './call.ts';
import type { OpenTurn } from './open-turn.ts';
import type { PartTranslator } from './parts.ts';
import { readEnd, seenEnd, toFinishReason, toUsage } from './turn-end.ts';
import type { TurnEnd } from './turn-end.ts';

/** Ends with `finish`, whatever happens; only a consumer that aborts has its own reason thrown at it. */
export async function* readParts(
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

/** An answer that is there is not held back because its bill is not. */
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
