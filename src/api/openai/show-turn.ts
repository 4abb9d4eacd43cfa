/** A turn as a stream, or as one completion when it is over. */
import type { FastifyReply } from 'fastify';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { ProblemError } from '../http/problems.ts';
import type { ProblemCode } from '../http/problems.ts';
import { sendEventStream, toData } from '../http/event-stream.ts';
import { closing } from '../http/readers.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { nameTurn } from '../http/reader-headers.ts';
import { toOutcome, createTranslator, toErrorChunk } from './translate.ts';
import type { Reading } from './translate.ts';

export function streamTurn(
  { service, readers }: SurfaceParts,
  reply: FastifyReply,
  turn: OwnTurn,
  reading: Omit<Reading, 'turnId'>,
): FastifyReply {
  nameTurn(reply, turn);
  const signal = readers.listen(reply);
  const unfinished = (why: string) => toData(toErrorChunk('turn_unfinished', goesOn(turn, why)));
  async function* texts(): AsyncGenerator<string> {
    const translate = createTranslator({ ...reading, turnId: turn.turnId });
    for await (const entries of service.followTurn(turn, { signal })) {
      const payloads = entries.flatMap(translate);
      if (payloads.length > 0) yield payloads.map(toData).join('');
    }
    if (!signal.aborted) yield 'data: [DONE]\n\n';
    // These clients do not resume, and take a stream that just ends for a complete answer.
    else if (signal.reason === closing) yield unfinished(shuttingDown);
  }
  // `texts` end when the reader leaves; when the service closes, they send an error first.
  const never = new AbortController().signal;
  return sendEventStream(reply, {
    texts: texts(),
    signal: never,
    lastText: unfinished('Your token has expired'),
  });
}

/** Waits until the turn is over. `isRepeatable`: the same request, sent again, would join the turn. */
export async function wholeTurn(
  { service, readers }: SurfaceParts,
  reply: FastifyReply,
  turn: OwnTurn,
  { model, isRepeatable }: { model: string; isRepeatable: boolean },
): Promise<object> {
  nameTurn(reply, turn);
  const { turnId } = turn;
  const entries = await service.readTurn(turn, readers.listen(reply));
  const outcome = toOutcome(entries, { turnId, model });
  switch (outcome.kind) {
    case 'completed':
      return outcome.completion;
    case 'failed':
    case 'cancelled': {
      const { error } = outcome;
      throw over(`turn_${outcome.kind}`, error.message, { turnId, error });
    }
    case 'unfinished':
      if (isRepeatable) throw new ProblemError('unavailable', goesOn(turn), { members: { turnId } });
      throw over('turn_unfinished', goesOn(turn), { turnId });
    default:
      return outcome satisfies never;
  }
}

/** A retry would start another turn and repeat everything that this one did. */
function over(code: ProblemCode, detail: string, members: Record<string, unknown>): ProblemError {
  return new ProblemError(code, detail, { members, headers: { 'x-should-retry': 'false' } });
}

const shuttingDown = 'This process is shutting down';

function goesOn({ conversation }: TurnRef, why = shuttingDown): string {
  return `${why}. The turn goes on in conversation ${conversation}.`;
}
