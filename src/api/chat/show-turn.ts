/** A turn as a stream, or as one JSON answer when it is over. */
import type { UIMessageChunk } from 'ai';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { ChatAnswerSchema } from '@interlude-ai/core/contract/chat.ts';
import { emptyTurn, foldTurn } from '../../turn/fold-turn.ts';
import { inWords } from '../../turn/for-person.ts';
import { waitingForWorker } from '../../turn/operations.ts';
import type { WaitingTurn } from '../../service/follow-turn.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { ProblemError } from '../http/problems.ts';
import { sendEventStream, toData } from '../http/event-stream.ts';
import { closing } from '../http/readers.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { nameTurn } from '../http/reader-headers.ts';
import type { Reader } from '../http/reader-headers.ts';
import { createTranslator } from '../ui-message/translate.ts';
import { toTurnMessage } from '../ui-message/turn-message.ts';
import type { LogEntry } from '../../turn/event.ts';

type ChatAnswer = z.input<typeof ChatAnswerSchema>;

interface Shown {
  turn: OwnTurn;
  reader: Reader;
}

export function streamTurn(
  { service, readers }: SurfaceParts,
  reply: FastifyReply,
  { turn, reader }: Shown,
): FastifyReply {
  nameTurn(reply, turn);
  const signal = readers.listen(reply);
  async function* texts(): AsyncGenerator<string> {
    const toChunks = createTranslator(reader);
    const read = (onWaiting: (turn: WaitingTurn) => void) => service.followTurn(turn, { signal, onWaiting });
    for await (const output of withWorkerWait(read)) {
      const chunks =
        output.kind === 'entries' ? output.entries.flatMap(toChunks) : toOperation(output, reader);
      if (chunks.length > 0) yield chunks.map(toData).join('');
    }
    if (!signal.aborted) yield 'data: [DONE]\n\n';
  }
  return sendEventStream(reply, {
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    texts: texts(),
    signal,
  });
}

/** Waits until the turn is over. */
export async function wholeTurn(
  { service, readers }: SurfaceParts,
  reply: FastifyReply,
  { turn, reader }: Shown,
): Promise<ChatAnswer> {
  nameTurn(reply, turn);
  const signal = readers.listen(reply);
  const entries = await service.readTurn(turn, signal);
  const { end, failure } = foldTurn(emptyTurn, entries);
  if (!end) {
    const detail =
      signal.reason === closing ? 'This process is shutting down' : 'The turn could not be followed';
    throw new ProblemError('unavailable', `${detail}; the turn goes on. Read it at ${streamPath(turn)}.`, {
      members: { turnId: turn.turnId },
    });
  }
  const message = toTurnMessage(entries, reader);
  const error = failure && inWords(failure, reader.language);
  return {
    conversationId: turn.conversation,
    turnId: turn.turnId,
    status: end.status,
    message: { id: message?.id ?? turn.turnId, role: 'assistant', parts: message?.parts ?? [] },
    usage: end.usage ? { ...end.usage } : null,
    ...(error?.type === 'error' && { error: { code: error.code, message: error.errorText } }),
  };
}

/** `transient`, because there is no message yet that could contain it. */
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

/** Whether the turn waits because no worker of its version runs. Shown to current readers, and not in the log. */
type WorkerWait = 'waiting' | 'over';

type TurnOutput =
  | { kind: 'entries'; entries: LogEntry[] }
  | { kind: 'worker'; agent: string; status: WorkerWait };

/** The turn's entries, and before the first one whether the turn waits for a worker, if `read` reports that. */
async function* withWorkerWait(
  read: (onWaiting: (turn: WaitingTurn) => void) => AsyncIterable<LogEntry[]>,
): AsyncGenerator<TurnOutput> {
  const { promise: waiting, resolve } = Promise.withResolvers<WaitingTurn>();
  const batches = read(resolve)[Symbol.asyncIterator]();
  try {
    const next = batches.next();
    const turn = await Promise.race([waiting, next.then(() => null)]);
    if (turn) yield { kind: 'worker', agent: turn.agent, status: 'waiting' };
    const first = await next;
    if (first.done) return;
    const isTaken = first.value.some(({ event }) => event.type === 'turn-started');
    if (turn && isTaken) yield { kind: 'worker', agent: turn.agent, status: 'over' };
    yield { kind: 'entries', entries: first.value };
    for (let rest = await batches.next(); !rest.done; rest = await batches.next())
      yield { kind: 'entries', entries: rest.value };
  } finally {
    await batches.return?.();
  }
}
