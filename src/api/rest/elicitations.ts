/** Questions: answering them, and the questions of a conversation or to the caller. */
import { z } from 'zod';
import {
  AnswerBodySchema,
  ElicitationReceiptSchema,
  ElicitationReceiptsSchema,
  ElicitationListSchema,
  ElicitationStatusSchema,
  PlacedElicitationListSchema,
  PlacedElicitationSchema,
} from '@interlude-ai/core/contract/elicitation.ts';
import type { ElicitationResponse } from '@interlude-ai/core/contract/elicitation.ts';
import {
  AnswerHeadersSchema,
  ConversationParamsSchema,
  LanguageHeadersSchema,
} from '@interlude-ai/core/contract/http.ts';
import { problemFor } from '../http/problems.ts';
import { languageFrom } from '../http/reader-headers.ts';
import { fromPosted, toReceipt } from '../http/receipt.ts';
import { describeRoute, json, problemsOf, eventStream } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';
import { toElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Question } from '../../service/questions.ts';
import { questionInWords } from '../../turn/for-person.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { sendEventStream, toData } from '../http/event-stream.ts';
import type { SurfaceParts } from '../http/readers.ts';

type OneAnswer = Omit<ElicitationResponse, 'conversationId'>;

export function elicitationsSurface(api: Api, parts: SurfaceParts): void {
  const { service } = parts;
  questionRoutes(api, parts);
  const post = describeRoute({
    tag: 'elicitations',
    id: 'answerElicitation',
    summary: 'Answer a question, or several of a conversation',
    response: {
      200: json(
        'The answer is recorded, and what counts; for several answers, one item each',
        z.union([ElicitationReceiptsSchema, ElicitationReceiptSchema]),
      ),
      202: json('Consent is recorded; `awaiting` names what is missing', ElicitationReceiptSchema),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.answering],
  });
  api.post(
    '/run/api/elicitation-responses',
    {
      config: { isAnswer: () => true },
      schema: {
        ...post,
        body: AnswerBodySchema,
        headers: AnswerHeadersSchema,
      },
    },
    async (request, reply) => {
      const { body } = request;
      const answer = async ({ elicitationId, ...posted }: OneAnswer) => {
        const answered = await service.answerQuestion(request.principal, {
          conversation: body.conversationId,
          elicitationId,
          response: fromPosted(posted),
          source: posted.source,
          address: request.ip,
          idempotencyKey: request.headers['idempotency-key'],
        });
        return toReceipt(elicitationId, answered);
      };
      if (!('responses' in body)) {
        const { conversationId: _, ...single } = body;
        const { statusCode, body: receipt } = await answer(single);
        return reply.code(statusCode).send(receipt);
      }
      // Each answer counts as one request. The request itself is counted already, for the first.
      const refusals = body.responses.map((_, index) =>
        index === 0 ? null : service.limits.request(request.principal, true),
      );
      const items = await Promise.all(
        body.responses.map(async (single, index) => {
          const { elicitationId } = single;
          try {
            const refusal = refusals[index];
            if (refusal) throw refusal;
            const { statusCode: httpStatus, body: receipt } = await answer(single);
            return { elicitationId, httpStatus, receipt };
          } catch (error) {
            const problem = problemFor(error, request);
            return { elicitationId, httpStatus: problem.statusCode, problem: problem.toDocument() };
          }
        }),
      );
      return reply.code(200).send({ items });
    },
  );
}

const query = z.object({
  status: ElicitationStatusSchema.optional().meta({
    description: 'Only those of this status; `pending` are the open ones',
    examples: ['pending'],
  }),
});

function questionRoutes(api: Api, { service, readers }: SurfaceParts): void {
  const list = describeRoute({
    tag: 'elicitations',
    id: 'listElicitations',
    summary: 'The questions of a conversation, oldest first',
    response: { 200: json('All of them, or those of one status', ElicitationListSchema) },
    problems: ['conversation_not_found'],
  });
  api.get(
    '/run/v1/conversations/:conversation/elicitations',
    {
      schema: {
        ...list,
        params: ConversationParamsSchema,
        querystring: query,
        headers: LanguageHeadersSchema,
      },
    },
    async ({ headers, principal, params, query: { status } }) => {
      const questions = await service.listQuestions(principal, params.conversation, { status });
      const language = languageFrom(headers);
      const items = questions.map((question) => questionInWords(toElicitationEvent(question), language));
      return { items, next: null };
    },
  );

  const listOpen = describeRoute({
    tag: 'elicitations',
    id: 'listOpenElicitations',
    summary: 'The questions that wait for the caller, in all conversations, newest first',
    response: { 200: json('At most the newest hundred', PlacedElicitationListSchema) },
  });
  api.get(
    '/run/v1/elicitations',
    { schema: { ...listOpen, headers: LanguageHeadersSchema } },
    async ({ headers, principal }) => {
      const questions = await service.questionsOf(principal);
      const language = languageFrom(headers);
      return { items: questions.map((question) => toPlaced(question, language)), next: null };
    },
  );

  const follow = describeRoute({
    tag: 'elicitations',
    id: 'followElicitations',
    summary: 'Follow the questions to the caller, in all conversations',
    description:
      'Each `data` is a `PlacedElicitation`: first those that are open, oldest first, then each one again whenever its status changes. There are no positions: a client that reconnects first gets the questions that are open then.',
    response: { 200: eventStream('Server-sent events without names', PlacedElicitationSchema) },
    problems: ['forbidden'],
  });
  api.get(
    '/run/v1/elicitations/events',
    { exposeHeadRoute: false, schema: { ...follow, headers: LanguageHeadersSchema } },
    async ({ headers, principal }, reply) => {
      const signal = readers.listen(reply);
      const questions = service.followQuestions(principal, signal);
      // Read before the stream begins, so that a client that then looks up a question misses no change.
      const { value: open = [] } = await questions.next();
      const language = languageFrom(headers);
      return sendEventStream(reply, { texts: toTexts(open, questions, language), signal });
    },
  );
}

async function* toTexts(
  open: Question[],
  later: AsyncIterable<Question[]>,
  language: Language | null,
): AsyncGenerator<string> {
  const toText = (question: Question) => toData(toPlaced(question, language));
  yield* open.map(toText);
  for await (const questions of later) yield* questions.map(toText);
}

function toPlaced(question: Question, language: Language | null) {
  const { conversation: conversationId, turnId } = question;
  return { ...questionInWords(toElicitationEvent(question), language), conversationId, turnId };
}
