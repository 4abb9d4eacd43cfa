/** A message as callers give it, and as `useChat` would post it. */
import type { z } from 'zod';
import type { ChatRequestSchema } from '../contract/chat.ts';
import { randomId } from './random-id.ts';
import type { Call } from './send.ts';

type ChatRequest = z.input<typeof ChatRequestSchema>;

interface Message {
  message: {
    /** The same id again is the same turn again, so keep it if you may send the message again later; made up unless given. */
    id?: string;
    /** May be empty beside an image. */
    text: string;
    /**
     * Pictures for an agent that takes images: PNG, JPEG, GIF or WebP as `data:` URLs in base64. Another agent refuses the
     * message with `images_not_taken`.
     */
    images?: readonly string[];
    /**
     * What the page shows while it is written: told to the agent beside the words, and never shown as the user's. At most
     * 16,000 characters.
     */
    context?: string;
  };
  /** Only counts in a new conversation; the first agent unless given. */
  agentId?: string;
  /**
   * What becomes of a turn that is at work in this conversation: `refuse` (the default) keeps it and throws
   * `turn_in_progress`, `cancel` stops it. One that only waits for a person makes room in any case.
   */
  onBusy?: 'refuse' | 'cancel';
  /** Names the request for a day: another call with the same key is the same turn. */
  idempotencyKey?: string;
}

/** In a conversation whose id you chose, or got from an earlier turn: its stored messages are the history. */
interface InConversation extends Message {
  /** 1–128 characters of `A-Z a-z 0-9 . _ : -`. */
  conversationId: string;
  messages?: undefined;
}

/** Begins a conversation, which the service names: see `TurnView.conversationId`. */
interface InNewConversation extends Message {
  conversationId?: undefined;
  /** What was said before, oldest first. */
  messages?: readonly EarlierMessage[];
}

export type NewMessage = InConversation | InNewConversation;

/** `system` is read with the authority of the user, not of the agent's own instructions. */
export interface EarlierMessage {
  role: 'user' | 'assistant' | 'system';
  text: string;
  /** As those of the new message; only of `user`. */
  images?: readonly string[];
}

/** The same request however often it is sent. */
export function toPost(given: NewMessage, headers: Record<string, string>): Call {
  const { conversationId, message, messages = [], agentId, onBusy } = given;
  const earlier = messages.map(({ role, ...said }) => ({ role, parts: toParts(said) }));
  const { id = randomId(), context } = message;
  const beside = context === undefined ? [] : [{ type: 'data-page-context', data: { text: context } }];
  const body: ChatRequest = {
    ...(conversationId !== undefined && { id: conversationId }),
    messages: [...earlier, { id, role: 'user', parts: [...toParts(message), ...beside] }],
    ...(agentId !== undefined && { agentId }),
    ...(onBusy !== undefined && { onBusy }),
  };
  // Without a conversation there is nothing that its message's id could be looked up in.
  const key = given.idempotencyKey ?? (conversationId === undefined ? randomId() : undefined);
  return {
    method: 'POST',
    path: '/run/api/chat',
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body,
  };
}

function toParts({ text, images = [] }: { text: string; images?: readonly string[] }) {
  return [{ type: 'text', text }, ...images.map((url) => ({ type: 'file', mediaType: typeIn(url), url }))];
}

/** Of a `data:` URL. What the image is, the service finds out. */
function typeIn(url: string): string {
  return /^data:([^;,]+)/i.exec(url)?.[1] ?? 'image/*';
}
