/** The AI SDK surface: `useChat` works against it as it is. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cannotAsk, parseCapabilities } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { clientId } from '../client-ids.ts';
import { requireOwn } from '../conversation-access.ts';
import { parseInput, ProblemError } from '../errors.ts';
import { sendEventStream } from '../event-stream.ts';
import type { Readers } from '../readers.ts';
import { closing } from '../readers.ts';
import { turnEntries } from '../turn-entries.ts';
import type { TurnWorkflows } from '../turns.ts';
import { foldMessage } from './fold.ts';
import { chatRequest } from './request.ts';
import { startTurn } from './start-turn.ts';
import type { StartTurnParts } from './start-turn.ts';
import { createTranslator } from './translate.ts';

export interface ChatParts extends StartTurnParts {
  workflows: Pick<TurnWorkflows, 'start' | 'cancel' | 'current'>;
  readers: Readers;
}

const params = z.object({ conversation: clientId });

export function chatSurface(fastify: FastifyInstance, parts: ChatParts): void {
  const { storage, workflows, readers } = parts;

  fastify.post('/run/api/chat', async (request, reply) => {
    const chat = parseInput(chatRequest, request.body);
    // A caller that waits for one JSON answer has nowhere to see a question.
    const capabilities = chat.stream ? capabilitiesOf(request) : cannotAsk;
    const turn = await startTurn(parts, { request: chat, principal: request.principal, capabilities });
    reply.header('x-turn-id', turn.turnId);
    return chat.stream ? streamTurn(reply, turn, capabilities) : awaitTurn(reply, turn);
  });

  fastify.get('/run/api/chat/:conversation/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const { conversation } = parseInput(params, request.params);
    const ref = { tenant: request.principal.tenant, conversation };
    const known = await storage.turns.conversation(ref);
    // `useChat` asks on every mount, also for a conversation that only exists in the browser so far.
    if (!known) return reply.code(204).send();
    requireOwn(known, request.principal);
    const turnId = await workflows.current(ref);
    if (turnId === null) return reply.code(204).send();
    reply.header('x-turn-id', turnId);
    return streamTurn(reply, { ...ref, turnId }, capabilitiesOf(request));
  });

  fastify.post('/run/api/chat/:conversation/cancel', async (request) => {
    const { conversation } = parseInput(params, request.params);
    const ref = { tenant: request.principal.tenant, conversation };
    requireOwn(await storage.turns.conversation(ref), request.principal);
    return workflows.cancel(ref);
  });

  function streamTurn(reply: FastifyReply, turn: TurnRef, reader: Capabilities): FastifyReply {
    const signal = readers.listen(reply);
    return sendEventStream(reply, {
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
      texts: texts(turn, reader, signal),
      signal,
    });
  }

  async function* texts(turn: TurnRef, reader: Capabilities, signal: AbortSignal): AsyncGenerator<string> {
    const toChunks = createTranslator(reader);
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
    const toChunks = createTranslator(cannotAsk);
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

function streamPath({ conversation }: TurnRef): string {
  return `/run/api/chat/${conversation}/stream`;
}

function capabilitiesOf(request: FastifyRequest): Capabilities {
  const header = request.headers['x-supports-elicitation'];
  return parseCapabilities(Array.isArray(header) ? header.join(',') : header);
}
