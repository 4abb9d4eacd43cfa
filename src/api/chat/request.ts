/**
 * What `useChat` posts, and what we take from it: the stored conversation is the history, so only the last user
 * message is new. Unknown members and parts are ignored; released clients add their own.
 */
import { z } from 'zod';
import { clientId } from '../client-ids.ts';
import { invalidRequest } from '../errors.ts';

const part = z
  .looseObject({ type: z.string() })
  .refine((value) => value.type !== 'text' || typeof value['text'] === 'string', {
    path: ['text'],
    message: 'a text part needs its text',
  });

const message = z.object({
  id: clientId.optional(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(part),
});

export const chatRequest = z.object({
  id: clientId,
  messages: z.array(message).min(1, 'send at least the new user message'),
  agentId: z.string().min(1).optional(),
  stream: z.boolean().default(true),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: clientId.nullish(),
});

export type ChatRequest = z.infer<typeof chatRequest>;

export interface NewMessage {
  /** As the client names it; absent when it left that to us. */
  id: string | undefined;
  content: { type: 'text'; text: string }[];
}

/** The new user message, or a 400 that points at what keeps it from being one. */
export function newMessage({ messages }: ChatRequest): NewMessage {
  const index = messages.length - 1;
  const last = messages[index];
  const at = `/messages/${index}`;
  if (last?.role !== 'user')
    throw invalidRequest([{ pointer: `${at}/role`, detail: "the last message has to be the user's" }]);
  const file = last.parts.findIndex(({ type }) => type === 'file');
  if (file !== -1) {
    throw invalidRequest([
      { pointer: `${at}/parts/${file}`, detail: 'files are not supported yet; send text' },
    ]);
  }
  const content = last.parts.flatMap((given) => {
    const text = given.type === 'text' ? given['text'] : undefined;
    return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text' as const, text }] : [];
  });
  if (content.length === 0)
    throw invalidRequest([{ pointer: `${at}/parts`, detail: 'the message has no text' }]);
  return { id: last.id, content };
}
