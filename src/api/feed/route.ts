/** The neutral feed: a conversation's log as server-sent events, in nobody's protocol. Stays open across turns. */
import { FeedHeadersSchema, FeedQuerySchema } from '../../contract/conversations.ts';
import { ConversationParamsSchema } from '../../contract/ids.ts';
import { StreamEventSchema } from '../../contract/stream-event.ts';
import type { FollowedConversation } from '../../service/follow-conversation.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, eventStream } from '../http/describe-route.ts';
import { sendEventStream } from '../http/event-stream.ts';
import type { Readers } from '../http/readers.ts';
import { readerFrom } from '../http/request-headers.ts';
import type { Api } from '../http/validation.ts';
import { toEventText } from './translate.ts';

export interface FeedParts {
  service: Pick<Service, 'followConversation'>;
  readers: Readers;
}

/** How soon an `EventSource` that was cut off comes back. */
const retryMs = 1_000;

export function feedSurface(api: Api, { service, readers }: FeedParts): void {
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
      const position = headers['last-event-id'] ?? query.after ?? '0';
      const operations = query.operations === 'true' || readerFrom(headers).operations;
      const signal = readers.listen(reply);
      const after = position === 'latest' ? position : Number(position);
      const followed = await service.followConversation(principal, conversation, { after, signal });
      return sendEventStream(reply, { texts: toTexts(followed, operations), signal });
    },
  );
}

async function* toTexts(
  { after, batches }: FollowedConversation,
  operations: boolean,
): AsyncGenerator<string> {
  // An id without data moves a reader's position and is no event: cut off before the first one, it comes back here.
  yield `retry: ${retryMs}\nid: ${after}\n\n`;
  for await (const { agent, entries } of batches)
    yield entries.map((entry) => toEventText(entry, agent, operations)).join('');
}
