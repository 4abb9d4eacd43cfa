/** A turn, to whoever asked: as a stream while it goes on, or as one JSON answer when it is over. */
import type { UIMessageChunk } from 'ai';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { ChatAnswerSchema } from '../../contract/chat.ts';
import { waitingForWorker } from '../../turn/operations.ts';
import type { WaitingTurn } from '../../service/follow-turn.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { Service } from '../../service/service.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { ProblemError } from '../http/problems.ts';
import { sendEventStream } from '../http/event-stream.ts';
import { closing } from '../http/readers.ts';
import type { Readers } from '../http/readers.ts';
import type { Reader } from '../http/request-headers.ts';
import { nameTurn } from '../http/turn-headers.ts';
import { withWorkerWait } from './waiting-for-worker.ts';
import type { TurnOutput } from './waiting-for-worker.ts';
import { createTranslator } from '../ui-message/translate.ts';
import { toTurnMessage } from '../ui-message/turn-message.ts';

type ChatAnswer = z.input<typeof ChatAnswerSchema>;

interface Shown {
  turn: OwnTurn;
  reader: Reader;
}

export interface ShowTurn {
  streamed(reply: FastifyReply, shown: Shown): FastifyReply;
  whole(reply: FastifyReply, shown: Shown): Promise<ChatAnswer>;
}

interface Parts {
  service: Pick<Service, 'followTurn' | 'readTurn'>;
  readers: Readers;
}

export function createShowTurn({ service, readers }: Parts): ShowTurn {
  async function* texts({ turn, reader }: Shown, signal: AbortSignal): AsyncGenerator<string> {
    const toChunks = createTranslator(reader);
    const read = (onWaiting: (turn: WaitingTurn) => void) => service.followTurn(turn, { signal, onWaiting });
    for await (const told of withWorkerWait(read)) {
      const chunks = told.kind === 'entries' ? told.entries.flatMap(toChunks) : toOperation(told, reader);
      if (chunks.length > 0) yield chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    }
    if (!signal.aborted) yield 'data: [DONE]\n\n';
  }

  return {
    streamed(reply, shown) {
      nameTurn(reply, shown.turn);
      const signal = readers.listen(reply);
      return sendEventStream(reply, {
        headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
        texts: texts(shown, signal),
        signal,
      });
    },

    async whole(reply, { turn, reader }) {
      nameTurn(reply, turn);
      const signal = readers.listen(reply);
      const entries = await service.readTurn(turn, signal);
      const end = entries.at(-1)?.event;
      if (end?.type !== 'turn-ended') {
        const detail =
          signal.reason === closing ? 'This process is shutting down' : 'The turn could not be followed';
        throw new ProblemError(
          'unavailable',
          `${detail}; the turn goes on. Read it at ${streamPath(turn)}.`,
          {
            members: { turnId: turn.turnId },
          },
        );
      }
      const message = toTurnMessage(entries, reader);
      const error = entries.map(({ event }) => event).findLast((event) => event.type === 'error');
      return {
        conversationId: turn.conversation,
        turnId: turn.turnId,
        status: end.status,
        message: { id: message?.id ?? turn.turnId, role: 'assistant', parts: message?.parts ?? [] },
        usage: end.usage ? { ...end.usage } : null,
        ...(error && { error: { code: error.code, message: error.errorText } }),
      };
    },
  };
}

/** `transient`: `useChat` keeps nothing of it, and before a message has begun there is none that could have it. */
function toOperation(
  { agent, status }: Extract<TurnOutput, { kind: 'worker' }>,
  { operations }: Reader,
): UIMessageChunk[] {
  if (!operations) return [];
  const { id, operation: data } = waitingForWorker(agent, status, Date.now());
  return [{ type: 'data-operation', id, data, transient: true }];
}

function streamPath({ conversation }: TurnRef): string {
  return `/run/api/chat/${conversation}/stream`;
}
