/** A caller's conversations: the list, and what was said. */
import { z } from 'zod';
import {
  ConversationListSchema,
  ConversationMessagesSchema,
  pageLimit,
} from '../../contract/conversations.ts';
import { ReaderHeadersSchema } from '../../contract/headers.ts';
import { ClientIdSchema, ConversationParamsSchema } from '../../contract/ids.ts';
import type { Service } from '../../service/service.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import { readerFrom } from '../http/request-headers.ts';
import type { Api } from '../http/validation.ts';
import { toConversation, toMessages } from './translate.ts';

const ChangeSchema = z.object({ updatedAt: z.int().min(0), conversation: ClientIdSchema });
const listQuery = z.object({
  cursor: cursorTo(ChangeSchema, { updatedAt: 1_795_219_200_000, conversation: 'demo-1' }).optional(),
  limit: pageLimit('How many at most'),
});

const TurnSchema = z.object({ seq: z.int().min(1) });
const messagesQuery = z.object({
  cursor: cursorTo(TurnSchema, { seq: 12 }).optional(),
  limit: pageLimit('How many turns at most, each with its messages'),
});

export function conversationsSurface(
  api: Api,
  service: Pick<Service, 'listConversations' | 'readConversation'>,
): void {
  const list = describeRoute({
    tag: 'conversations',
    id: 'listConversations',
    summary: "The caller's own conversations, last changed first",
    response: { 200: json('A page of them', ConversationListSchema) },
  });
  api.get(
    '/run/v1/conversations',
    { schema: { ...list, querystring: listQuery } },
    async ({ principal, query }) => {
      const { cursor = null, limit } = query;
      const { items, next } = await service.listConversations(principal, { after: cursor, limit });
      return { items: items.map((row) => toConversation(row, row.liveTurn)), next: next && toCursor(next) };
    },
  );

  const one = describeRoute({
    tag: 'conversations',
    id: 'readConversation',
    summary: 'A conversation and what was said in it, newest page first',
    response: { 200: json('The conversation, with a page of its messages', ConversationMessagesSchema) },
    problems: ['conversation_not_found'],
  });
  api.get(
    '/run/v1/conversations/:conversation',
    {
      schema: {
        ...one,
        params: ConversationParamsSchema,
        querystring: messagesQuery,
        headers: ReaderHeadersSchema,
      },
    },
    async ({ headers, params: { conversation }, principal, query }) => {
      const { cursor, limit } = query;
      const page = { before: cursor?.seq ?? null, limit, images: true };
      const read = await service.readConversation(principal, conversation, page);
      const items = toMessages(read.turns, readerFrom(headers));
      const messages = { items, next: read.next && toCursor(read.next) };
      return { ...toConversation(read.conversation, read.liveTurn), messages, position: read.position };
    },
  );
}
