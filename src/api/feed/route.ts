/** The neutral feed: a conversation's log as server-sent events, in nobody's protocol. Stays open across turns. */
import { FeedHeadersSchema, FeedQuerySchema } from '../../contract/conversations.ts';
import { ConversationParamsSchema } from '../../contract/ids.ts';
import { StreamEventSchema } from '../../contract/stream-event.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { isOwner, requireOwn } from '../../service/conversation-access.ts';
import { describeRoute, eventStream } from '../http/describe-route.ts';
import { sendEventStream } from '../http/event-stream.ts';
import type { Principal } from '../../service/principal.ts';
import type { Readers } from '../http/readers.ts';
import { readerFrom } from '../http/request-headers.ts';
import type { Api } from '../http/validation.ts';
import { toEventText } from './translate.ts';

export interface FeedParts {
  storage: Pick<Storage, 'turnLog' | 'turns'>;
  readers: Readers;
}

interface Following {
  principal: Principal;
  ref: ConversationRef;
  after: number;
  operations: boolean;
  signal: AbortSignal;
}

/** How soon an `EventSource` that was cut off comes back. */
const retryMs = 1_000;

export function feedSurface(api: Api, { storage, readers }: FeedParts): void {
  const describe = describeRoute({
    tag: 'conversations',
    id: 'followConversation',
    summary: 'Follow everything that happens in a conversation',
    description:
      'Each `data` is a `StreamEvent`, each `id` its sequence number. The stream stays open across turns; without a position it begins with the conversation. All questions are shown, whatever the reader can present.',
    response: { 200: eventStream('Server-sent events without names', StreamEventSchema) },
    problems: ['conversation_not_found'],
  });
  api.get(
    '/run/v1/conversations/:conversation/events',
    {
      exposeHeadRoute: false,
      schema: {
        ...describe,
        params: ConversationParamsSchema,
        querystring: FeedQuerySchema,
        headers: FeedHeadersSchema,
      },
    },
    async (request, reply) => {
      const { headers, principal, query } = request;
      const { conversation } = request.params;
      const ref = { tenant: principal.tenant, conversation };
      requireOwn(await storage.turns.conversation(ref), principal);
      const position = headers['last-event-id'] ?? query.after ?? '0';
      const after = position === 'latest' ? await storage.turnLog.latest(ref) : Number(position);
      const operations = query.operations === 'true' || readerFrom(headers).operations;
      const signal = readers.listen(reply);
      const texts = follow({ principal, ref, after, operations, signal });
      return sendEventStream(reply, { texts, signal });
    },
  );

  async function* follow(following: Following): AsyncGenerator<string> {
    const { principal, ref, after, operations, signal } = following;
    // An id without data moves a reader's position and is no event: cut off before the first one, it comes back here.
    yield `retry: ${retryMs}\nid: ${after}\n\n`;
    let agent: string | undefined;
    for await (const entries of storage.turnLog.follow(ref, after, signal)) {
      if (agent === undefined) {
        // One whose first turn was withdrawn is gone, and somebody else may have begun another of that name.
        const conversation = await storage.turns.conversation(ref);
        if (!conversation || !isOwner(conversation, principal)) return;
        ({ agent } = conversation);
      }
      const root = agent;
      yield entries.map((entry) => toEventText(entry, root, operations)).join('');
    }
  }
}
