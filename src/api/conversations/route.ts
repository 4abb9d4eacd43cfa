/** A caller's conversations: the list, and what was said. */
import { z } from 'zod';
import {
  ConversationListSchema,
  ConversationMessagesSchema,
  pageLimit,
} from '../../contract/conversations.ts';
import { ReaderHeadersSchema } from '../../contract/headers.ts';
import { ClientIdSchema, ConversationParamsSchema } from '../../contract/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { requireOwn, userOf } from '../../service/conversation-access.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import { readerFrom } from '../http/request-headers.ts';
import type { TurnWorkflows } from '../../service/turn-workflows.ts';
import type { Api } from '../http/validation.ts';
import { toConversation, toMessages } from './translate.ts';
import type { TurnToTell } from './translate.ts';

export interface ConversationsParts {
  storage: Pick<Storage, 'conversations' | 'turnLog' | 'turns'>;
  workflows: Pick<TurnWorkflows, 'current'>;
}

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

export function conversationsSurface(api: Api, parts: ConversationsParts): void {
  const { storage, workflows } = parts;

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
      const { cursor, limit } = query;
      const owner = { tenant: principal.tenant, user: userOf(principal) };
      const rows = await storage.conversations.list(owner, { after: cursor ?? null, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next =
        last && rows.length > limit
          ? toCursor({ updatedAt: last.updatedAt, conversation: last.conversation })
          : null;
      return { items: page.map((row) => toConversation(row, row.liveTurn)), next };
    },
  );

  const read = describeRoute({
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
        ...read,
        params: ConversationParamsSchema,
        querystring: messagesQuery,
        headers: ReaderHeadersSchema,
      },
    },
    async ({ headers, params: { conversation }, principal, query }) => {
      const { cursor, limit } = query;
      const ref = { tenant: principal.tenant, conversation };
      const known = requireOwn(await storage.turns.conversation(ref), principal);
      // In this order: what happens in between is told by the feed once more, and a turn that ends in between is said to
      // be live although its message is there, which does no harm. The other way round, it would be told by nobody.
      const position = await storage.turnLog.latest(ref);
      const live = await storage.turns.live(ref);
      const waiting = live || cursor ? null : await aboutToBegin(ref);
      const turns = await storage.conversations.turns(ref, { before: cursor?.seq ?? null, limit });
      const [oldest] = turns;
      // Every conversation begins with a turn, so that only its first one has the number 1.
      const next = oldest && oldest.seq > 1 ? toCursor({ seq: oldest.seq }) : null;
      // It may have begun in between.
      const newest = waiting && turns.every(({ turnId }) => turnId !== waiting.turnId) ? [waiting] : [];
      const items = toMessages([...turns, ...newest], readerFrom(headers));
      const turnId = live?.turnId ?? waiting?.turnId ?? null;
      return { ...toConversation(known, turnId), messages: { items, next }, position };
    },
  );

  /** Accepted, and no worker has taken it up yet: whoever posted it wants to see it again. */
  async function aboutToBegin(ref: ConversationRef): Promise<TurnToTell | null> {
    const starting = await storage.conversations.starting(ref);
    if (starting.length === 0) return null;
    const current = await workflows.current(ref);
    const turn = starting.find(({ turnId }) => turnId === current);
    return turn ? { ...turn, log: null } : null;
  }
}
