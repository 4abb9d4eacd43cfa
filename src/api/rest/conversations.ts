/** A caller's conversations and their messages; their export and deletion. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { TextPart, UIMessage } from 'ai';
import {
  ConversationListSchema,
  ConversationMessagesSchema,
  pageLimit,
} from '@interlude-ai/core/contract/conversations.ts';
import {
  ClientIdSchema,
  ConversationParamsSchema,
  ReaderHeadersSchema,
} from '@interlude-ai/core/contract/http.ts';
import type { Service } from '../../service/service.ts';
import { imageInWords, isImagePart, isOfPage, isPageContext } from '../../turn/message-parts.ts';
import type { ImagePart } from '../../turn/message-parts.ts';
import type { ReadConversation, ReadTurn } from '../../service/conversations.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';
import { describeRoute, json, lines, nothing } from '../http/describe-route.ts';
import { readerFrom } from '../http/reader-headers.ts';
import type { Reader } from '../http/reader-headers.ts';
import type { Api } from '../http/validation.ts';
import { toTurnMessage } from '../ui-message/turn-message.ts';

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

export function conversationsSurface(api: Api, service: Service): void {
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

  const exported = describeRoute({
    tag: 'conversations',
    id: 'exportConversation',
    summary: 'Everything that is kept of a conversation',
    description:
      'One JSON object per line; `kind` says what it is: `conversation`, `turn`, `message`, `image`, `call`, `question`, `answer` or `event`. Secrets that were entered into forms are left out.',
    response: { 200: lines('Lines of JSON, oldest first') },
    problems: ['conversation_not_found', 'person_required'],
  });
  api.get(
    '/run/v1/conversations/:conversation/export',
    { exposeHeadRoute: false, schema: { ...exported, params: ConversationParamsSchema } },
    async ({ params: { conversation }, principal, ip }, reply) => {
      const found = await service.exportConversation(principal, { conversation, address: ip });
      return reply
        .headers({
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': 'attachment; filename="conversation.ndjson"',
          'cache-control': 'no-store',
        })
        .send(Readable.from(asLines(found)));
    },
  );

  const erased = describeRoute({
    tag: 'conversations',
    id: 'deleteConversation',
    summary: 'Delete a conversation and its histories',
    description: 'Refused while a turn of it has not ended. It cannot be undone.',
    response: { 204: nothing('It is deleted; Temporal deletes the histories soon') },
    problems: ['conversation_not_found', 'person_required', 'turn_in_progress'],
  });
  api.delete(
    '/run/v1/conversations/:conversation',
    { schema: { ...erased, params: ConversationParamsSchema } },
    async ({ params: { conversation }, principal, ip }, reply) => {
      await service.eraseConversation(principal, { conversation, address: ip });
      return reply.code(204).send();
    },
  );
}

async function* asLines(found: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const line of found) yield `${JSON.stringify(line)}\n`;
}

function toConversation(row: ReadConversation['conversation'], liveTurn: string | null) {
  return {
    id: row.conversation,
    agent: row.agent,
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(row.updatedAt),
    turn: liveTurn === null ? null : { turnId: liveTurn, status: 'running' as const },
  };
}

/** Without the live turn's own message, because its stream replays it. */
function toMessages(turns: ReadTurn[], reader: Reader): UIMessage[] {
  return turns.flatMap(({ given, log }) => {
    const message = log && toTurnMessage(log, reader);
    return [...given.map(toGivenMessage), ...(message ? [message] : [])];
  });
}

function toGivenMessage({ id, role, content }: ReadTurn['given'][number]): UIMessage {
  const parts =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content as (TextPart | ImagePart)[]);
  return {
    // Clients post the messages again, so our ids must be valid in their requests.
    id: id.replaceAll('/', ':'),
    role: role === 'assistant' ? 'assistant' : 'user',
    parts: parts.flatMap((part): UIMessage['parts'] => {
      if (isImagePart(part)) return [toUiPart(part)];
      if (isPageContext(part)) return [{ type: 'data-page-context', data: { text: part.text } }];
      return isOfPage(part) ? [] : [part as UIMessage['parts'][number]];
    }),
  };
}

/** The image itself, or a description if the response would be too large. */
function toUiPart(image: ImagePart): UIMessage['parts'][number] {
  const { mediaType, data } = image;
  if (data === undefined) return { type: 'text', text: `[${imageInWords(image)}]` };
  return { type: 'file', mediaType, url: `data:${mediaType};base64,${data}` };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
