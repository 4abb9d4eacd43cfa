/**
 * The client: start a turn, follow it through any interruption, answer its questions, cancel it. Runs wherever
 * `fetch` and web streams do.
 */
import type { Capabilities } from '../elicitation/capabilities.ts';
import type { Action, ElicitationEvent, Outcome } from '../elicitation/elicitation.ts';
import { followTurn } from './follow-turn.ts';
import type { FollowOptions } from './follow-turn.ts';
import { defaultTiming, pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { asInterludeError, ConnectionLost, createSend } from './send.ts';
import type { Call, Token } from './send.ts';
import type { TurnView } from './turn-view.ts';

export interface ClientOptions {
  baseUrl: string;
  token: Token;
  /** Which questions you can put in front of a person. Those you cannot are never asked. */
  capabilities?: Capabilities;
  fetch?: typeof globalThis.fetch;
  timing?: Partial<Timing>;
}

export interface NewMessage {
  /** Chosen by you, like the message's: 1–128 characters of `A-Z a-z 0-9 . _ : -`. */
  conversationId: string;
  /** The same message id again is the same turn again, so choose one per message and keep it. */
  message: { id: string; text: string };
  /** Only counts in a new conversation; the first agent unless given. */
  agentId?: string;
}

export interface Answer {
  conversationId: string;
  elicitationId: string;
  action: Action;
  /** Only with `accept` of a form. */
  content?: Record<string, unknown>;
}

/** `received`: stored, and not yet confirmed by the turn. */
export interface AnswerReceipt {
  elicitationId: string;
  status: Outcome | 'pending' | 'received';
  duplicate?: boolean;
  /** Consent is on record; the turn goes on once the account is connected. */
  awaiting?: 'connection';
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface Client {
  /** Sends the message and follows its turn to the end. The same call again, even much later, shows the same turn. */
  start(message: NewMessage, options?: FollowOptions): AsyncGenerator<TurnView, void>;
  /** Follows the live turn of a conversation; ends at once when it is idle. */
  follow(conversationId: string, options?: FollowOptions): AsyncGenerator<TurnView, void>;
  /** Safe to repeat: the same answer gets the same receipt. */
  answer(answer: Answer, options?: CallOptions): Promise<AnswerReceipt>;
  /** Asks the live turn to stop; its stream tells when it has. */
  cancel(conversationId: string, options?: CallOptions): Promise<{ status: 'cancelling' | 'idle' }>;
  openElicitations(conversationId: string, options?: CallOptions): Promise<ElicitationEvent[]>;
}

export function createClient(options: ClientOptions): Client {
  const send = createSend(options);
  const timing: Timing = { ...defaultTiming, ...options.timing };
  const headers = capabilityHeader(options.capabilities);

  /** One answer, however often it takes to get it within `giveUpMs`. */
  async function call<T>(request: Call, { signal }: CallOptions = {}): Promise<T> {
    const deadline = Date.now() + timing.giveUpMs;
    let loss: ConnectionLost | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const limit = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
      try {
        const response = await send(request, signal ? AbortSignal.any([signal, limit]) : limit);
        return (await response.json().catch(unreadable)) as T;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) throw error;
        // An attempt that we cut short ourselves says less than the one before it.
        if (!limit.aborted) loss = error;
        const delayMs = Math.max(error.retryAfterMs, retryDelayMs(attempt, timing));
        if (Date.now() + delayMs >= deadline) throw asInterludeError(loss ?? error);
        await pause(delayMs, signal);
      }
    }
  }

  return {
    start({ conversationId, message, agentId }, follow = {}) {
      const { id, text } = message;
      const body = {
        id: conversationId,
        messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
        ...(agentId !== undefined && { agentId }),
      };
      // Reconnecting sends the message again: its id joins the turn, whether it has begun, goes on or is over.
      const post: Call = { method: 'POST', path: '/run/api/chat', headers, body };
      return followTurn({ ...follow, timing, connect: (signal) => send(post, signal) });
    },

    follow(conversationId, follow = {}) {
      const get: Call = { method: 'GET', path: `${chatPath(conversationId)}/stream`, headers };
      return followTurn({ ...follow, timing, connect: (signal) => send(get, signal) });
    },

    answer(answer, callOptions) {
      return call({ method: 'POST', path: '/run/api/elicitation-responses', body: answer }, callOptions);
    },

    cancel(conversationId, callOptions) {
      return call({ method: 'POST', path: `${chatPath(conversationId)}/cancel` }, callOptions);
    },

    async openElicitations(conversationId, callOptions) {
      const conversation = encodeURIComponent(conversationId);
      const path = `/run/v1/conversations/${conversation}/elicitations?status=pending`;
      const { items } = await call<{ items: ElicitationEvent[] }>({ method: 'GET', path }, callOptions);
      return items;
    },
  };
}

function unreadable(cause: unknown): never {
  throw new ConnectionLost('The answer could not be read.', { cause });
}

function chatPath(conversationId: string): string {
  return `/run/api/chat/${encodeURIComponent(conversationId)}`;
}

function capabilityHeader(capabilities: Capabilities | undefined): Record<string, string> {
  const modes = Object.entries(capabilities ?? {}).flatMap(([mode, can]) => (can ? [mode] : []));
  return modes.length > 0 ? { 'x-supports-elicitation': modes.join(',') } : {};
}
