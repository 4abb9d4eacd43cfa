/** A message as callers pass it, and the request that `useChat` would post for it. */
import type { z } from 'zod';
import type { ChatRequestSchema } from '@interlude-ai/core/contract/chat.ts';
import type { Call } from './send.ts';

type ChatRequest = z.input<typeof ChatRequestSchema>;

interface Message {
  message: {
    /** The same id is the same turn again, so keep it if you may send the message again later; random unless given. */
    id?: string;
    /** May be empty if there is an image. */
    text: string;
    /**
     * For an agent that takes images: PNG, JPEG, GIF or WebP as `data:` URLs in base64. Other agents refuse the message
     * with `images_not_taken`.
     */
    images?: readonly string[];
    /** What the page shows: passed to the agent with the text, and never shown as the user's. At most 16,000 characters. */
    context?: string;
  };
  /** Only used in a new conversation; the first agent unless given. */
  agentId?: string;
  /**
   * What to do when a turn is at work in this conversation: `refuse` (the default) keeps it and throws `turn_in_progress`,
   * `cancel` stops it. A turn that only waits for a person is always replaced.
   */
  onBusy?: 'refuse' | 'cancel';
  /** Another call with the same key within a day is the same turn. */
  idempotencyKey?: string;
}

/** In a conversation whose id you chose or know from an earlier turn. Its stored messages are the history. */
interface InConversation extends Message {
  /** 1–128 characters of `A-Z a-z 0-9 . _ : -`. */
  conversationId: string;
  messages?: undefined;
}

/** Begins a conversation, whose id the service chooses: see `TurnView.conversationId`. */
interface InNewConversation extends Message {
  conversationId?: undefined;
  /** Earlier messages, oldest first. */
  messages?: readonly EarlierMessage[];
}

export type NewMessage = InConversation | InNewConversation;

/** `system` has the authority of the user, not of the agent's own instructions. */
export interface EarlierMessage {
  role: 'user' | 'assistant' | 'system';
  text: string;
  /** Like those of the new message; only of `user`. */
  images?: readonly string[];
}

/** The same request each time it is sent. */
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
  // Without a conversation, the service cannot look up the message id.
  const key = given.idempotencyKey ?? (conversationId === undefined ? randomId() : undefined);
  return {
    method: 'POST',
    path: '/run/api/chat',
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body,
  };
}

function toParts({ text, images = [] }: { text: string; images?: readonly string[] }) {
  return [
    { type: 'text', text },
    ...images.map((url) => ({ type: 'file', mediaType: mediaTypeIn(url), url })),
  ];
}

/** The type in a `data:` URL. The service checks the image itself. */
export function mediaTypeIn(url: string): string {
  return /^data:([^;,]+)/i.exec(url)?.[1] ?? 'image/*';
}

/** Not `crypto.randomUUID`, which is missing on pages without https. */
export function randomId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
