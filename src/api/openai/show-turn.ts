/** A turn, to whoever asked: as a stream while it goes on, or as one completion when it is over. */
import type { FastifyReply } from 'fastify';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { Service } from '../../service/service.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { ProblemError } from '../http/problems.ts';
import type { ProblemCode } from '../http/problems.ts';
import { sendEventStream } from '../http/event-stream.ts';
import { closing } from '../http/readers.ts';
import type { Readers } from '../http/readers.ts';
import { nameTurn } from '../http/turn-headers.ts';
import { toOutcome } from './completion.ts';
import { createTranslator, toErrorChunk } from './translate.ts';
import type { Reading } from './translate.ts';

export interface ShowTurn {
  streamed(reply: FastifyReply, turn: OwnTurn, reading: Omit<Reading, 'turnId'>): FastifyReply;
  /** `isRepeatable`: sent again, the request would be known, and join the turn. */
  whole(
    reply: FastifyReply,
    turn: OwnTurn,
    wanted: { model: string; isRepeatable: boolean },
  ): Promise<object>;
}

interface Parts {
  service: Pick<Service, 'followTurn' | 'readTurn'>;
  readers: Readers;
}

export function createShowTurn({ service, readers }: Parts): ShowTurn {
  async function* texts(turn: OwnTurn, reading: Reading, signal: AbortSignal): AsyncGenerator<string> {
    const translate = createTranslator(reading);
    for await (const entries of service.followTurn(turn, { signal })) {
      const payloads = entries.flatMap(translate);
      if (payloads.length > 0) yield payloads.map(toData).join('');
    }
    if (!signal.aborted) yield 'data: [DONE]\n\n';
    // These clients do not come back for the rest, and take a stream that just ends for a whole answer.
    else if (signal.reason === closing) yield toData(toErrorChunk('turn_unfinished', goesOn(turn)));
  }

  return {
    streamed(reply, turn, reading) {
      nameTurn(reply, turn);
      const signal = readers.listen(reply);
      // `texts` end with their reader; on closing they have something to say yet.
      const never = new AbortController().signal;
      return sendEventStream(reply, {
        texts: texts(turn, { ...reading, turnId: turn.turnId }, signal),
        signal: never,
      });
    },

    async whole(reply, turn, { model, isRepeatable }) {
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
    },
  };
}

/** Sent again, the request would be another turn, and everything that this one did would be done twice. */
function over(code: ProblemCode, detail: string, members: Record<string, unknown>): ProblemError {
  return new ProblemError(code, detail, { members, headers: { 'x-should-retry': 'false' } });
}

function goesOn({ conversation }: TurnRef): string {
  return `This process is shutting down. The turn goes on in conversation ${conversation}.`;
}

function toData(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}
