/** The AI SDK surface: `useChat` works against it as it is. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CancelAnswerSchema, ChatAnswerSchema, ChatRequestSchema } from '../../contract/chat.ts';
import { ReaderHeadersSchema, TurnHeadersSchema } from '../../contract/headers.ts';
import { ClientIdSchema } from '../../contract/ids.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { requireOwn } from '../conversation-access.ts';
import { describeRoute, eventStream, nothing } from '../describe-route.ts';
import { ProblemError } from '../errors.ts';
import { sendEventStream } from '../event-stream.ts';
import type { Readers } from '../readers.ts';
import { closing } from '../readers.ts';
import { plainReader, readerFrom } from '../request-headers.ts';
import type { Reader } from '../request-headers.ts';
import { startTurn } from '../start-turn.ts';
import type { StartTurnParts } from '../start-turn.ts';
import { turnEntries } from '../turn-entries.ts';
import type { TurnWorkflows } from '../turns.ts';
import type { Api } from '../validation.ts';
import { foldMessage } from '../ui-message/fold.ts';
import { givenMessages } from './request.ts';
import { createTranslator } from '../ui-message/translate.ts';

export interface ChatParts extends StartTurnParts {
  workflows: Pick<TurnWorkflows, 'start' | 'cancel' | 'current'>;
  readers: Readers;
}

const params = z.object({ conversation: ClientIdSchema });
const uiStream = eventStream('An AI SDK UI message stream');

export function chatSurface(api: Api, parts: ChatParts): void {
  const { storage, workflows, readers } = parts;

  const post = describeRoute({
    tag: 'chat',
    summary: 'Start a turn and follow it',
    response: {
      200: {
        description: uiStream.description,
        content: { ...uiStream.content, 'application/json': { schema: ChatAnswerSchema } },
      },
    },
    problems: [404, 409, 413, 415, 422],
  });
  api.post(
    '/run/api/chat',
    { schema: { ...post, body: ChatRequestSchema, headers: TurnHeadersSchema } },
    async (request, reply) => {
      const { body, headers, principal } = request;
      const reader = readerFrom(headers);
      const key = headers['idempotency-key'];
      const turn = await startTurn(
        parts,
        {
          conversation: body.id,
          messages: givenMessages(body),
          agent: { name: body.agentId, pointer: '/agentId' },
          // A caller that waits for one JSON answer has nowhere to see a question.
          capabilities: body.stream ? reader.capabilities : cannotAsk,
          onBusy: body.onBusy,
          repetition: key === undefined ? { kind: 'unnamed' } : { kind: 'named', key },
        },
        principal,
      );
      nameTurn(reply, turn);
      return body.stream ? streamTurn(reply, turn, reader) : awaitTurn(reply, turn);
    },
  );

  const stream = describeRoute({
    tag: 'chat',
    summary: 'Replay the live turn from its start, then follow it',
    response: { 200: uiStream, 204: nothing('No turn is live') },
    problems: [404],
  });
  api.get(
    '/run/api/chat/:conversation/stream',
    { exposeHeadRoute: false, schema: { ...stream, params, headers: ReaderHeadersSchema } },
    async (request, reply) => {
      const { conversation } = request.params;
      const ref = { tenant: request.principal.tenant, conversation };
      const known = await storage.turns.conversation(ref);
      // `useChat` asks on every mount, also for a conversation that only exists in the browser so far.
      if (!known) return reply.code(204).send();
      requireOwn(known, request.principal);
      const turnId = await workflows.current(ref);
      if (turnId === null) return reply.code(204).send();
      const turn = { ...ref, turnId };
      nameTurn(reply, turn);
      return streamTurn(reply, turn, readerFrom(request.headers));
    },
  );

  const cancel = describeRoute({
    tag: 'chat',
    summary: 'Ask the live turn to stop; again is harmless',
    response: { 200: CancelAnswerSchema },
    problems: [404],
  });
  api.post('/run/api/chat/:conversation/cancel', { schema: { ...cancel, params } }, async (request) => {
    const { conversation } = request.params;
    const ref = { tenant: request.principal.tenant, conversation };
    requireOwn(await storage.turns.conversation(ref), request.principal);
    return workflows.cancel(ref);
  });

  function streamTurn(reply: FastifyReply, turn: TurnRef, reader: Reader): FastifyReply {
    const signal = readers.listen(reply);
    return sendEventStream(reply, {
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
      texts: texts(turn, reader, signal),
      signal,
    });
  }

  async function* texts(turn: TurnRef, reader: Reader, signal: AbortSignal): AsyncGenerator<string> {
    const toChunks = createTranslator(reader.capabilities);
    for await (const entries of turnEntries(storage, turn, signal)) {
      const chunks = entries.flatMap(({ event }) => toChunks(event));
      if (chunks.length > 0) yield chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    }
    if (!signal.aborted) yield 'data: [DONE]\n\n';
  }

  async function awaitTurn(reply: FastifyReply, turn: TurnRef): Promise<object> {
    const signal = readers.listen(reply);
    const entries = [];
    for await (const batch of turnEntries(storage, turn, signal)) entries.push(...batch);
    const end = entries.at(-1)?.event;
    if (end?.type !== 'turn-ended') {
      const detail =
        signal.reason === closing ? 'This process is shutting down' : 'The turn could not be followed';
      throw new ProblemError('unavailable', `${detail}; the turn goes on. Read it at ${streamPath(turn)}.`, {
        members: { turnId: turn.turnId },
      });
    }
    const toChunks = createTranslator(plainReader.capabilities);
    const error = entries.map(({ event }) => event).findLast((event) => event.type === 'error');
    return {
      conversationId: turn.conversation,
      turnId: turn.turnId,
      status: end.status,
      message: foldMessage(entries.flatMap(({ event }) => toChunks(event))),
      usage: end.usage ?? null,
      ...(error && { error: { code: error.code, message: error.errorText } }),
    };
  }
}

function nameTurn(reply: FastifyReply, { conversation, turnId }: TurnRef): void {
  reply.headers({ 'x-conversation-id': conversation, 'x-turn-id': turnId });
}

function streamPath({ conversation }: TurnRef): string {
  return `/run/api/chat/${conversation}/stream`;
}
