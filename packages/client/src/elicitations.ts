/** Lists and follows open questions, and sends answers. */
import type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationRequest,
  ElicitationResponse,
  ElicitationResponses,
  PlacedElicitation,
  PlacedElicitationList,
} from '@interlude-ai/core/contract/elicitation.ts';
import { conversationPath } from './send.ts';
import type { Send } from './send.ts';
import { answerQuestions } from './answer-questions.ts';
import type { ElicitationHandlers, OnElicitation, Questions } from './answer-questions.ts';
import { unreadable } from './retry.ts';
import type { Ask, CallOptions, Timing } from './retry.ts';
import { readMessages, reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions, Reconnect } from './reconnect.ts';
import { InterludeError, parseObject } from './interlude-error.ts';

export interface ElicitationMethods {
  /** Safe to repeat: the same answer gets the same receipt. */
  answer(answer: ElicitationResponse, options?: CallOptions): Promise<ElicitationReceipt>;
  /**
   * Answers several questions of one conversation. A refused answer is an item with a `problem`, and does not affect the
   * others.
   */
  answerAll(answers: ElicitationResponses, options?: CallOptions): Promise<ElicitationReceipts>;
  /**
   * Adds a handler for the questions of turns that this client follows; returns a function that removes it. A removed
   * handler may still answer questions that it was asked before. The latest handler is asked first, and one that returns
   * `undefined` leaves the question to the one before it. A turn that is started with a handler declares that all questions
   * can be shown.
   */
  onElicitation(handler: OnElicitation): () => void;
  openElicitations(conversationId: string, options?: CallOptions): Promise<ElicitationRequest[]>;
  /** Your open questions in all conversations, newest first; at most a hundred. */
  allOpenElicitations(options?: CallOptions): Promise<PlacedElicitation[]>;
  /**
   * The questions to you in all conversations: first the open ones, oldest first, then each new one, and each again when it
   * is settled, even if that happened while disconnected. Ends only with its signal. Services are never asked: with an API
   * key, this is for `forUser`.
   */
  followElicitations(options?: ReadOptions): AsyncGenerator<PlacedElicitation, void>;
}

interface Parts {
  ask: Ask;
  send: Send;
  timing: Timing;
  handlers: ElicitationHandlers;
}

export function createElicitationMethods({ ask, send, timing, handlers }: Parts): ElicitationMethods {
  return {
    answer: (body, callOptions) =>
      ask({ method: 'POST', path: '/run/api/elicitation-responses', body }, callOptions),

    answerAll: (body, callOptions) =>
      ask({ method: 'POST', path: '/run/api/elicitation-responses', body }, callOptions),

    onElicitation: (handler) => handlers.add(handler),

    async openElicitations(conversationId, callOptions) {
      const path = `${conversationPath(conversationId)}/elicitations?status=pending`;
      const { items } = await ask<{ items: ElicitationRequest[] }>({ method: 'GET', path }, callOptions);
      return items;
    },

    async allOpenElicitations(callOptions) {
      const { items } = await ask<PlacedElicitationList>(
        { method: 'GET', path: '/run/v1/elicitations' },
        callOptions,
      );
      return items;
    },

    followElicitations: (read = {}) =>
      followElicitations({
        ...read,
        timing,
        connect: (signal) => send({ method: 'GET', path: '/run/v1/elicitations/events' }, signal),
        async list(conversationId, signal) {
          const path = `${conversationPath(conversationId)}/elicitations`;
          const response = await send({ method: 'GET', path }, signal);
          const { items }: { items: ElicitationRequest[] } = await response.json().catch(unreadable);
          return items;
        },
      }),
  };
}

/**
 * The questions of one turn, answered by `onElicitation` or by the handlers of the client. An answer is sent until it
 * arrives, as long as the turn is followed.
 */
export function questionsOfTurn(
  { answer, openElicitations }: ElicitationMethods,
  handlers: ElicitationHandlers,
  onElicitation: OnElicitation | undefined,
): Questions {
  return answerQuestions({
    onElicitation: onElicitation ?? handlers.ask,
    isListening: () => onElicitation !== undefined || handlers.some(),
    answer: (response, signal) => answer(response, { signal, retryForever: true }),
    async isOpen(conversationId, id, signal) {
      const open = await openElicitations(conversationId, { signal, retryForever: true });
      return open.some(({ elicitationId }) => elicitationId === id);
    },
  });
}

/**
 * Follows a user's questions across conversations. The stream has no positions: every connection begins with the open
 * questions. Those that were settled while disconnected are looked up, so that each question is yielded again when it is
 * settled.
 */
interface FollowElicitations extends Reconnect {
  list: (conversationId: string, signal: AbortSignal) => Promise<ElicitationRequest[]>;
}

async function* followElicitations(follow: FollowElicitations): AsyncGenerator<PlacedElicitation, void> {
  /** Yielded as open, and not yet as settled. */
  const open = new Map<string, PlacedElicitation>();
  let settled: PlacedElicitation[] = [];

  async function connect(signal: AbortSignal): Promise<Response> {
    const response = await follow.connect(signal);
    // The stream reports everything that is settled after it has begun.
    settled = await settledOf([...open.values()], (id) => follow.list(id, signal));
    return response;
  }

  yield* reconnecting({ ...follow, connect }, async function* (response, { alive, advanced }) {
    const body = streamOf(response);
    const lookedUp = new Set(settled.map(({ elicitationId }) => elicitationId));
    for (const elicitation of settled) {
      open.delete(elicitation.elicitationId);
      yield elicitation;
    }
    for await (const { data } of readMessages(body, alive)) {
      const elicitation = parseObject(data ?? '');
      if (!isPlacedElicitation(elicitation)) continue;
      const { elicitationId, status } = elicitation;
      const isTold = status === 'pending' ? open.has(elicitationId) : lookedUp.has(elicitationId);
      if (status === 'pending') open.set(elicitationId, elicitation);
      else open.delete(elicitationId);
      if (isTold) continue;
      advanced();
      yield elicitation;
    }
    return 'cut';
  });
}

/** Those that are no longer open, in their current state. */
async function settledOf(
  elicitations: PlacedElicitation[],
  list: (conversationId: string) => Promise<ElicitationRequest[]>,
): Promise<PlacedElicitation[]> {
  const settled: PlacedElicitation[] = [];
  for (const id of new Set(elicitations.map(({ conversationId }) => conversationId))) {
    const now = await list(id).catch(noneWhenGone);
    for (const { elicitationId, conversationId, turnId } of elicitations) {
      const found = now.find((one) => one.elicitationId === elicitationId);
      if (found && found.status !== 'pending') settled.push({ ...found, conversationId, turnId });
    }
  }
  return settled;
}

function noneWhenGone(error: unknown): ElicitationRequest[] {
  if (error instanceof InterludeError && error.code === 'conversation_not_found') return [];
  throw error;
}

function isPlacedElicitation(value: Record<string, unknown>): value is PlacedElicitation {
  return value['type'] === 'elicitation-request' && typeof value['elicitationId'] === 'string';
}
