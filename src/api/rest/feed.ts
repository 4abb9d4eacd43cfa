/** The neutral feed: a conversation's log as server-sent events, independent of any protocol. Stays open across turns. */
import { FeedHeadersSchema, FeedQuerySchema } from '@interlude-ai/core/contract/conversations.ts';
import { ConversationParamsSchema } from '@interlude-ai/core/contract/http.ts';
import { StreamEventSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { FollowedConversation } from '../../service/conversations.ts';
import { describeRoute, eventStream } from '../http/describe-route.ts';
import { sendEventStream, toData } from '../http/event-stream.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { readerFrom } from '../http/reader-headers.ts';
import type { Reader } from '../http/reader-headers.ts';
import type { Api } from '../http/validation.ts';
import type { LogEntry } from '../../turn/event.ts';
import { inWords } from '../../turn/for-person.ts';
import { operationId, operationOf } from '../../turn/operations.ts';

/** When an `EventSource` reconnects. */
const retryMs = 1_000;

export function feedSurface(api: Api, { service, readers }: SurfaceParts): void {
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
      const reader = readerFrom(headers);
      const operations = query.operations === 'true' || reader.operations;
      const signal = readers.listen(reply);
      const after = position === 'latest' ? position : Number(position);
      const followed = await service.followConversation(principal, conversation, { after, signal });
      return sendEventStream(reply, { texts: toTexts(followed, { ...reader, operations }), signal });
    },
  );
}

type FeedReader = Pick<Reader, 'operations' | 'language'>;

async function* toTexts(
  { after, batches }: FollowedConversation,
  reader: FeedReader,
): AsyncGenerator<string> {
  // An id without data sets the client's position, so that it reconnects here even before the first event.
  yield `retry: ${retryMs}\nid: ${after}\n\n`;
  for await (const { agent, entries } of batches)
    yield entries.map((entry) => toEventText(entry, agent, reader)).join('');
}

/** `agent`: the conversation's. An operation comes before its entry. */
function toEventText(entry: LogEntry, agent: string, { operations, language }: FeedReader): string {
  const { seq, turnId } = entry;
  const event = inWords(entry.event, language);
  const at = new Date(entry.at).toISOString();
  const text = `id: ${seq}\n${toData({ ...event, turnId, at })}`;
  const operation = operations ? operationOf(entry, agent) : null;
  if (!operation) return text;
  const { path, parentToolCallId } = event;
  const said = {
    type: 'data-operation',
    id: operationId(entry),
    data: operation,
    turnId,
    at,
    ...(path && { path }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  };
  // Without an id, so that a client cut off in between gets both again.
  return `${toData(said)}${text}`;
}
