/**
 * The client: starts turns, follows them through any interruption, answers their questions, cancels them. Runs wherever
 * `fetch` and web streams do.
 */
import type { CancelAnswer } from '@interlude-ai/core/contract/chat.ts';
import type { Approval, ApprovalList } from '@interlude-ai/core/contract/approvals.ts';
import type { Connection, ConnectionList, Disconnected } from '@interlude-ai/core/contract/connections.ts';
import type { ConversationList, ConversationMessages } from '@interlude-ai/core/contract/conversations.ts';
import type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationRequest,
  ElicitationResponse,
  ElicitationResponses,
  PlacedElicitation,
  PlacedElicitationList,
} from '@interlude-ai/core/contract/elicitation.ts';
import type { ModelList } from '@interlude-ai/core/contract/openai.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { answerQuestions, createHandlers } from './answer-questions.ts';
import type { OnElicitation } from './answer-questions.ts';
import { createAsk, defaultTiming, readJson, untilFree } from './retry.ts';
import type { CallOptions, Timing } from './retry.ts';
import type { ReadOptions } from './reconnect.ts';
import {
  capabilityHeader,
  chatPath,
  conversationPath,
  createSend,
  createServiceClock,
  withQuery,
} from './send.ts';
import type { Call, Token } from './send.ts';
import { followElicitations, followFeed, followTurn } from './follow.ts';
import type { EventsOptions, FeedItem, FollowOptions } from './follow.ts';
import { toPost } from './new-message.ts';
import type { NewMessage } from './new-message.ts';
import type { TurnView } from './turn-view.ts';

export interface ClientOptions {
  baseUrl: string;
  token: Token;
  /** With an API key that may act for users: the id of the user. */
  forUser?: string;
  /**
   * Which questions you can show to a person. Others are never asked. Unless given: all with `onElicitation`, none without.
   */
  capabilities?: Capabilities;
  /**
   * The language of the person who reads, such as `de`. The service's own sentences are then written to them, and errors of tool
   * calls no longer for the model; in English if the service does not have the language.
   */
  language?: string;
  /**
   * Answers questions where no person is watching, like a handler that is given to `onElicitation`. Without one they stay
   * open until they are answered elsewhere or expire.
   */
  onElicitation?: OnElicitation;
  fetch?: typeof globalThis.fetch;
  timing?: Partial<Timing>;
}

export interface Client {
  /**
   * Sends the message and follows its turn to the end. The same message id again, however much later, shows the same turn.
   */
  start(message: NewMessage, options?: FollowOptions): AsyncGenerator<TurnView, void>;
  /** Follows the live turn of a conversation; ends at once when it is idle. */
  follow(conversationId: string, options?: FollowOptions): AsyncGenerator<TurnView, void>;
  /** All events of a conversation, across turns; ends only with its signal. */
  events(conversationId: string, options?: EventsOptions): AsyncGenerator<FeedItem, void>;
  /** Asks the live turn to stop; its stream shows when it has. */
  cancel(conversationId: string, options?: CallOptions): Promise<CancelAnswer>;
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
  /** Your own conversations, last changed first. */
  conversations(page?: PageOptions): Promise<ConversationList>;
  /** Its messages, newest page first. The message of the live turn is not included: `follow` shows it from its start. */
  conversation(conversationId: string, page?: PageOptions): Promise<ConversationMessages>;
  agents(options?: CallOptions): Promise<ModelList['data']>;
  /** Your accounts at servers, missing ones included. */
  connections(options?: CallOptions): Promise<Connection[]>;
  /** Removes your account at this server, and revokes it at its provider where that is possible. Safe to repeat. */
  disconnect(server: string, options?: CallOptions): Promise<Disconnected>;
  /** The tools that you have approved in advance, newest first. */
  approvals(options?: CallOptions): Promise<Approval[]>;
  /** Removes an approval, by an `id` of `approvals()`. One that is not there, or not yours, is `approval_not_found`. */
  withdrawApproval(id: string, options?: CallOptions): Promise<Approval>;
  /**
   * The service's time, in milliseconds since 1970, to compare `expiresAt` with, because the local clock may be wrong.
   * Derived from the answers so far, accurate to about a second.
   */
  now(): number;
}

export interface PageOptions extends CallOptions {
  /** `next` of the previous page. */
  cursor?: string;
  /** 1 to 100; 20 unless given. */
  limit?: number;
}

export function createClient(options: ClientOptions): Client {
  const clock = createServiceClock();
  const send = createSend({ ...options, clock });
  const timing: Timing = { ...defaultTiming, ...options.timing };
  const ask = createAsk(send, timing);
  const handlers = createHandlers(options.onElicitation);
  /** One answer, or several in one request. */
  const answer = <Receipt>(body: object, callOptions?: CallOptions): Promise<Receipt> =>
    ask({ method: 'POST', path: '/run/api/elicitation-responses', body }, callOptions);

  async function openElicitations(conversationId: string, callOptions?: CallOptions) {
    const path = `${conversationPath(conversationId)}/elicitations?status=pending`;
    const { items } = await ask<{ items: ElicitationRequest[] }>({ method: 'GET', path }, callOptions);
    return items;
  }

  function headersFor({ onElicitation, operations }: FollowOptions) {
    const all = { url: true, form: true };
    return {
      ...capabilityHeader(options.capabilities ?? (onElicitation || handlers.some() ? all : undefined)),
      ...(operations && { 'x-emit-operations': 'true' }),
      'x-supports-reset-step': 'true',
    };
  }

  async function* followFrom(
    conversationId: string | undefined,
    connect: (signal: AbortSignal) => Promise<Response>,
    follow: FollowOptions,
  ): AsyncGenerator<TurnView, void> {
    const { onElicitation } = follow;
    const questions = answerQuestions({
      onElicitation: onElicitation ?? handlers.ask,
      isListening: () => onElicitation !== undefined || handlers.some(),
      // An answer is sent until it arrives, as long as the turn is followed.
      answer: (response, signal) => answer(response, { signal, retryForever: true }),
      async isOpen(id, elicitationId, signal) {
        const open = await openElicitations(id, { signal, retryForever: true });
        return open.some((one) => one.elicitationId === elicitationId);
      },
    });
    yield* followTurn({ ...follow, timing, conversationId, questions, connect });
  }

  return {
    start(message, follow = {}) {
      // A reconnect sends it again, which joins the turn in any state.
      const post = toPost(message, headersFor(follow));
      const sendPost = message.onBusy === 'cancel' ? untilFree(send, timing) : send;
      return followFrom(message.conversationId, (signal) => sendPost(post, signal), follow);
    },

    follow(conversationId, follow = {}) {
      const get: Call = {
        method: 'GET',
        path: `${chatPath(conversationId)}/stream`,
        headers: headersFor(follow),
      };
      return followFrom(conversationId, (signal) => send(get, signal), follow);
    },

    events(conversationId, { after, operations, ...feed } = {}) {
      const feedPath = `${conversationPath(conversationId)}/events`;
      return followFeed({
        ...feed,
        timing,
        after,
        connect: (position, signal) =>
          send({ method: 'GET', path: withQuery(feedPath, { after: position, operations }) }, signal),
      });
    },

    cancel: (conversationId, callOptions) =>
      ask({ method: 'POST', path: `${chatPath(conversationId)}/cancel` }, callOptions),

    conversations: ({ cursor, limit, ...callOptions } = {}) =>
      ask({ method: 'GET', path: withQuery('/run/v1/conversations', { cursor, limit }) }, callOptions),

    conversation(conversationId, { cursor, limit, ...callOptions } = {}) {
      const path = withQuery(conversationPath(conversationId), { cursor, limit });
      return ask({ method: 'GET', path, headers: headersFor({}) }, callOptions);
    },

    answer,
    answerAll: answer,
    onElicitation: (handler) => handlers.add(handler),
    openElicitations,

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
          const { items } = await readJson<{ items: ElicitationRequest[] }>(response);
          return items;
        },
      }),

    async agents(callOptions) {
      const { data } = await ask<ModelList>({ method: 'GET', path: '/run/v1/models' }, callOptions);
      return data;
    },

    async connections(callOptions) {
      const path = '/run/v1/connections';
      const { items } = await ask<ConnectionList>({ method: 'GET', path }, callOptions);
      return items;
    },

    disconnect: (server, callOptions) =>
      ask({ method: 'DELETE', path: `/run/v1/connections/${encodeURIComponent(server)}` }, callOptions),

    async approvals(callOptions) {
      const { items } = await ask<ApprovalList>({ method: 'GET', path: '/run/v1/approvals' }, callOptions);
      return items;
    },

    withdrawApproval: (id, callOptions) =>
      ask({ method: 'DELETE', path: `/run/v1/approvals/${encodeURIComponent(id)}` }, callOptions),

    now: clock.now,
  };
}
