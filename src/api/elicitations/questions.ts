/** The questions of a conversation, and those that wait for the caller wherever they were asked: listed, and followed. */
import { z } from 'zod';
import {
  ElicitationListSchema,
  ElicitationStatusSchema,
  PlacedElicitationListSchema,
  PlacedElicitationSchema,
} from '../../contract/elicitation.ts';
import { ConversationParamsSchema } from '../../contract/ids.ts';
import { toElicitationEvent } from '../../elicitation/elicitation-event.ts';
import type { Question } from '../../service/questions.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, eventStream, json } from '../http/describe-route.ts';
import { sendEventStream } from '../http/event-stream.ts';
import type { Readers } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';

export interface QuestionRoutesParts {
  service: Pick<Service, 'listQuestions' | 'questionsOf' | 'followQuestions'>;
  readers: Readers;
}

const query = z.object({
  status: ElicitationStatusSchema.optional().meta({
    description: 'Only those of this status; `pending` are the open ones',
    examples: ['pending'],
  }),
});

export function questionRoutes(api: Api, { service, readers }: QuestionRoutesParts): void {
  const list = describeRoute({
    tag: 'elicitations',
    id: 'listElicitations',
    summary: 'The questions of a conversation, oldest first',
    response: { 200: json('All of them, or those of one status', ElicitationListSchema) },
    problems: ['conversation_not_found'],
  });
  api.get(
    '/run/v1/conversations/:conversation/elicitations',
    { schema: { ...list, params: ConversationParamsSchema, querystring: query } },
    async ({ principal, params, query: { status } }) => {
      const questions = await service.listQuestions(principal, params.conversation, { status });
      return { items: questions.map(toElicitationEvent), next: null };
    },
  );

  const listOpen = describeRoute({
    tag: 'elicitations',
    id: 'listOpenElicitations',
    summary: 'The questions that wait for the caller, in all conversations, newest first',
    response: { 200: json('At most the newest hundred', PlacedElicitationListSchema) },
  });
  api.get('/run/v1/elicitations', { schema: listOpen }, async ({ principal }) => {
    const questions = await service.questionsOf(principal);
    return { items: questions.map(toPlaced), next: null };
  });

  const follow = describeRoute({
    tag: 'elicitations',
    id: 'followElicitations',
    summary: 'Follow the questions to the caller, in all conversations',
    description:
      'Each `data` is a `PlacedElicitation`: first those that are open, oldest first, then each one again whenever its status changes. There are no positions: whoever comes back is told first what is open then.',
    response: { 200: eventStream('Server-sent events without names', PlacedElicitationSchema) },
    problems: ['forbidden'],
  });
  api.get(
    '/run/v1/elicitations/events',
    { exposeHeadRoute: false, schema: follow },
    async ({ principal }, reply) => {
      const signal = readers.listen(reply);
      const questions = service.followQuestions(principal, signal);
      // Read before the stream begins: whoever looks afterwards what has become of a question misses nothing between.
      const { value: open = [] } = await questions.next();
      return sendEventStream(reply, { texts: toTexts(open, questions), signal });
    },
  );
}

async function* toTexts(open: Question[], later: AsyncIterable<Question[]>): AsyncGenerator<string> {
  yield* open.map(toText);
  for await (const questions of later) yield* questions.map(toText);
}

function toText(question: Question): string {
  return `data: ${JSON.stringify(toPlaced(question))}\n\n`;
}

function toPlaced(question: Question) {
  const { conversation: conversationId, turnId } = question;
  return { ...toElicitationEvent(question), conversationId, turnId };
}
