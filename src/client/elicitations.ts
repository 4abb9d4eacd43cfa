/** What a client does with questions: it lists and follows those that are open, and sends the answers. */
import type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationResponse,
  ElicitationResponses,
} from '../contract/elicitation-response.ts';
import type {
  ElicitationRequest,
  PlacedElicitation,
  PlacedElicitationList,
} from '../contract/elicitation.ts';
import { conversationPath } from './addresses.ts';
import { answerQuestions } from './answer-questions.ts';
import type { OnElicitation, Questions } from './answer-questions.ts';
import { unreadable } from './call.ts';
import type { Ask, CallOptions } from './call.ts';
import type { ElicitationHandlers } from './elicitation-handlers.ts';
import { followElicitations } from './follow-elicitations.ts';
import type { ReadOptions } from './reconnect.ts';
import type { Timing } from './retry.ts';
import type { Send } from './send.ts';

/** The methods of a client that are about questions. */
export interface ElicitationMethods {
  /** Safe to repeat: the same answer gets the same receipt. */
  answer(answer: ElicitationResponse, options?: CallOptions): Promise<ElicitationReceipt>;
  /** Answers several questions of one conversation; one that is refused is an item with a `problem`, and stops no other. */
  answerAll(answers: ElicitationResponses, options?: CallOptions): Promise<ElicitationReceipts>;
  /**
   * Answers the questions of turns that this client follows, until the function is called that it returns: what the
   * handler is asked by then, it may still answer. Of several, the latest is asked first, and one that returns
   * `undefined` leaves the question to the one before it. A turn is told that all questions can be shown when it is
   * started with a handler.
   */
  onElicitation(handler: OnElicitation): () => void;
  openElicitations(conversationId: string, options?: CallOptions): Promise<ElicitationRequest[]>;
  /** The questions that wait for you in all conversations, newest first; at most a hundred. */
  allOpenElicitations(options?: CallOptions): Promise<PlacedElicitation[]>;
  /**
   * The questions to you in all conversations: first those that are open, oldest first, then each new one, and each again
   * when it is settled, also when that was while the connection was away. Ends only with its signal. A service is never
   * asked: with an API key, this is for `forUser`.
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
 * The questions of one turn, answered by `onElicitation`, or by the handlers of the client. As long as somebody follows,
 * an answer is worth any number of attempts.
 */
export function questionsOfTurn(
  { answer, openElicitations }: ElicitationMethods,
  handlers: ElicitationHandlers,
  onElicitation: OnElicitation | undefined,
): Questions {
  return answerQuestions({
    onElicitation: onElicitation ?? handlers.ask,
    isListening: () => onElicitation !== undefined || handlers.some(),
    answer: (response, signal) => answer(response, { signal, patient: true }),
    async isOpen(conversationId, id, signal) {
      const open = await openElicitations(conversationId, { signal, patient: true });
      return open.some(({ elicitationId }) => elicitationId === id);
    },
  });
}
