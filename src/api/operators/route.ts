/** For operators: the turns and questions of their tenant, their timelines, and ending them. */
import { z } from 'zod';
import {
  CancelledTurnSchema,
  ExpiredQuestionSchema,
  QuestionParamsSchema,
  QuestionSearchSchema,
  SeenQuestionListSchema,
  SeenTurnListSchema,
  TimelineSchema,
  TurnParamsSchema,
  TurnSearchSchema,
} from '@interlude-ai/core/contract/operators.ts';
import { operatorOf } from '../../service/operators.ts';
import type { Service } from '../../service/service.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';
import { describeRoute, json, problemsOf } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';
import { toSeenQuestion, toSeenTurn, toTimeline } from './translate.ts';

const PositionSchema = z.object({
  createdAt: z.int().min(0),
  id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/),
});
const cursor = cursorTo(PositionSchema, {
  createdAt: 1_795_219_200_000,
  id: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11',
}).optional();

const epochMs = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

export function operatorsSurface(api: Api, { operators }: Pick<Service, 'operators'>): void {
  const turns = describeRoute({
    tag: 'operators',
    id: 'searchTurns',
    summary: 'The turns of everyone in the tenant, newest first',
    response: { 200: json('A page of them', SeenTurnListSchema) },
    problems: ['forbidden'],
  });
  api.get(
    '/run/v1/operators/turns',
    { schema: { ...turns, querystring: TurnSearchSchema.extend({ cursor }) } },
    async ({ principal, query, ip }) => {
      const { cursor: after = null, limit, since, until, ...filter } = query;
      const found = await operators.turns(
        operatorOf(principal, ip),
        { ...filter, since: epochMs(since), until: epochMs(until) },
        { after, limit },
      );
      return { items: found.items.map(toSeenTurn), next: found.next && toCursor(found.next) };
    },
  );

  const story = describeRoute({
    tag: 'operators',
    id: 'readTimeline',
    summary: 'What happened in a turn',
    description:
      'Steps, calls, questions with who was asked and how long it waited, delegates, retries, and the end.',
    response: { 200: json('In order, without contents', TimelineSchema) },
    problems: ['forbidden', 'turn_not_found'],
  });
  api.get(
    '/run/v1/operators/turns/:turn',
    { schema: { ...story, params: TurnParamsSchema } },
    async ({ principal, params: { turn }, ip }) =>
      toTimeline(await operators.story(operatorOf(principal, ip), turn)),
  );

  const contents = describeRoute({
    tag: 'operators',
    id: 'readContents',
    summary: 'The same, with what was said, called and answered',
    description: 'For operators who may see contents. Each request is in the audit.',
    response: { 200: json('In order, with contents', TimelineSchema) },
    problems: ['forbidden', 'turn_not_found'],
  });
  api.get(
    '/run/v1/operators/turns/:turn/contents',
    { schema: { ...contents, params: TurnParamsSchema }, exposeHeadRoute: false },
    async ({ principal, params: { turn }, ip }) =>
      toTimeline(await operators.contents(operatorOf(principal, ip), turn)),
  );

  const cancel = describeRoute({
    tag: 'operators',
    id: 'cancelTurnOfUser',
    summary: 'Cancel a turn',
    description: 'It closes its open questions. Safe to repeat.',
    response: { 200: json('It ends soon, or has ended', CancelledTurnSchema) },
    problems: [...problemsOf.takingABody, 'forbidden', 'turn_not_found'],
  });
  api.post(
    '/run/v1/operators/turns/:turn/cancel',
    { schema: { ...cancel, params: TurnParamsSchema } },
    async ({ principal, params: { turn: turnId }, ip }) => {
      const isCancelled = await operators.cancel(operatorOf(principal, ip), turnId);
      return { turnId, status: isCancelled ? 'cancelling' : 'over' };
    },
  );

  const questions = describeRoute({
    tag: 'operators',
    id: 'searchQuestions',
    summary: 'The questions to everyone in the tenant, newest first',
    response: { 200: json('A page of them', SeenQuestionListSchema) },
    problems: ['forbidden'],
  });
  api.get(
    '/run/v1/operators/questions',
    { schema: { ...questions, querystring: QuestionSearchSchema.extend({ cursor }) } },
    async ({ principal, query, ip }) => {
      const { cursor: after = null, limit, since, until, ...filter } = query;
      const found = await operators.questions(
        operatorOf(principal, ip),
        { ...filter, since: epochMs(since), until: epochMs(until) },
        { after, limit },
      );
      return { items: found.items.map(toSeenQuestion), next: found.next && toCursor(found.next) };
    },
  );

  const expire = describeRoute({
    tag: 'operators',
    id: 'expireQuestion',
    summary: 'Expire a question',
    description: 'As if its time were up: the turn goes on without an answer. Safe to repeat.',
    response: { 200: json('How it was settled', ExpiredQuestionSchema) },
    problems: [...problemsOf.takingABody, 'forbidden', 'elicitation_not_found'],
  });
  api.post(
    '/run/v1/operators/questions/:elicitation/expire',
    { schema: { ...expire, params: QuestionParamsSchema } },
    async ({ principal, params: { elicitation: elicitationId }, ip }) => {
      const { question, isChanged } = await operators.expire(operatorOf(principal, ip), elicitationId);
      return { elicitationId, status: question.status, changed: isChanged };
    },
  );
}
