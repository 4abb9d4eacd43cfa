/** Tools to answer questions with, for models whose client does not ask its user, and for programs that poll. */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema } from '../../../contract/ids.ts';
import { toElicitationEvent } from '../../../elicitation/elicitation-event.ts';
import type { Service } from '../../../service/service.ts';
import { questionWords } from '../../../elicitation/question-words.ts';
import { answerQuestion } from './answers.ts';
import { readArguments, toJsonSchema } from './arguments.ts';
import { TurnResultSchema, turnResult } from './call-result.ts';
import { answerTool, fallbackTool, pendingResult } from './fallback.ts';
import { originOf } from './question-meta.ts';
import { reservedForUser, shownQuestion } from './showable.ts';
import { errorResult } from './tool.ts';
import type { Caller, Started, Tool } from './tool.ts';

export type QuestionToolsService = Pick<
  Service,
  'answerQuestion' | 'findQuestion' | 'findTurn' | 'questionsOf' | 'questionPage'
>;

const answer = {
  action: z.enum(['accept', 'decline', 'cancel']).describe('What the user decided, never you'),
  content: z.record(z.string(), z.unknown()).optional().describe('With accept of a form: what they entered'),
};
const FallbackArguments = z.object({ elicitId: ElicitationIdSchema, ...answer });
const AnswerArguments = z.object({ elicitationId: ElicitationIdSchema, ...answer });
const WaitArguments = z.object({ conversationId: ClientIdSchema.optional(), turnId: ClientIdSchema });

export function listMyQuestions(service: QuestionToolsService): Tool {
  return {
    description: {
      name: 'list_my_questions',
      title: 'List the open questions',
      description: 'The questions that agents and tools have asked the user and that wait for an answer.',
      inputSchema: toJsonSchema(z.object({})),
      annotations: { readOnlyHint: true },
    },
    async start({ principal }) {
      const rows = await service.questionsOf(principal);
      const questions = rows.map((row) => {
        const event = toElicitationEvent(row);
        const { elicitationId, expiresAt } = event;
        const page = service.questionPage(elicitationId);
        const question = shownQuestion({ ...event, page });
        return {
          elicitationId,
          conversationId: row.conversation,
          turnId: row.turnId,
          ...originOf(question.context),
          mode: question.mode,
          message: questionWords(question),
          ...(question.mode === 'form'
            ? { requestedSchema: question.requestedSchema }
            : { url: question.url }),
          page,
          expiresAt,
        };
      });
      const text = questions.length === 0 ? 'No question is open.' : JSON.stringify(questions, null, 2);
      return {
        kind: 'result',
        result: { content: [{ type: 'text', text }], structuredContent: { questions } },
      };
    },
  };
}

/** Listed only to clients that cannot show every question themselves. */
export function sendElicitationResult(service: QuestionToolsService): Tool {
  return {
    description: {
      name: fallbackTool,
      title: 'Send what the user answered',
      description:
        'Answers a question that a tool returned instead of its result. Ask the user first. The result is that of the tool, or its next question.',
      inputSchema: toJsonSchema(FallbackArguments),
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    async start(caller, call) {
      const { elicitId, ...response } = readArguments(FallbackArguments, call.arguments);
      const answered = await answerById(service, caller, { elicitationId: elicitId, response });
      if (answered.kind === 'result') return answered;
      const { turn, isAwaited } = answered;
      return { kind: 'turn', turn, ...(isAwaited && { answered: [elicitId] }) };
    },
  };
}

export function answerQuestionTool(service: QuestionToolsService): Tool {
  return {
    description: {
      name: answerTool,
      title: 'Answer an open question',
      description:
        'Answers one of the questions of list_my_questions with what the user decided, and does not wait for what follows: wait_for_turn does.',
      inputSchema: toJsonSchema(AnswerArguments),
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    async start(caller, call) {
      const { elicitationId, ...response } = readArguments(AnswerArguments, call.arguments);
      const answered = await answerById(service, caller, { elicitationId, response });
      if (answered.kind === 'result') return answered;
      const { turn, isAwaited } = answered;
      const text = isAwaited
        ? 'Recorded. The turn goes on as soon as the user has finished on the page.'
        : 'Recorded. The turn goes on.';
      const { conversationId, turnId } = turnResult(turn, { status: 'working' });
      return {
        kind: 'result',
        result: {
          content: [{ type: 'text', text }],
          structuredContent: {
            elicitationId,
            conversationId,
            turnId,
            status: isAwaited ? 'pending' : response.action,
          },
        },
      };
    },
  };
}

/** For turns that take longer than one call is waited for. */
export function waitForTurn(service: QuestionToolsService): Tool {
  return {
    description: {
      name: 'wait_for_turn',
      title: 'Wait for an answer',
      description:
        'Waits for a turn that an earlier call named, and returns its result or its open questions.',
      inputSchema: toJsonSchema(WaitArguments),
      outputSchema: toJsonSchema(TurnResultSchema),
      annotations: { readOnlyHint: true },
    },
    async start(caller, call) {
      const { conversationId, turnId } = readArguments(WaitArguments, call.arguments);
      const { principal, address } = caller;
      const found = await service.findTurn(principal, { conversation: conversationId, turnId, address });
      if (found) return { kind: 'turn', turn: found.turn };
      return { kind: 'result', result: errorResult('This conversation of yours has no such turn.') };
    },
  };
}

type Answered =
  | Extract<Started, { kind: 'result' }>
  | (Extract<Started, { kind: 'turn' }> & { isAwaited: boolean });

async function answerById(
  service: QuestionToolsService,
  caller: Caller,
  {
    elicitationId,
    response,
  }: {
    elicitationId: string;
    response: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> | undefined };
  },
): Promise<Answered> {
  const { action, content } = response;
  const found = await service.findQuestion(caller.principal, elicitationId);
  // Not theirs: the refusal is recorded where all are.
  if (!found) {
    await service.answerQuestion(caller.principal, {
      elicitationId,
      response: { action },
      address: caller.address,
      mayBeModel: true,
    });
    throw new Error('a question of nobody was answered');
  }
  const { turn, question } = found;
  const reserved = action === 'accept' ? reservedForUser(question) : null;
  if (reserved !== null)
    return { kind: 'result', result: pendingResult(turn, [question], new Map([[elicitationId, reserved]])) };
  const verdict = await answerQuestion(service, caller, {
    question,
    response: { action, ...(content && { content }) },
  });
  switch (verdict.kind) {
    case 'settled':
    case 'awaited':
      return { kind: 'turn', turn, isAwaited: verdict.kind === 'awaited' };
    case 'misfit':
      return {
        kind: 'result',
        result: pendingResult(turn, [question], new Map([[elicitationId, verdict.reasons]])),
      };
    case 'late': {
      const text = `${verdict.words} What came of it: call wait_for_turn {"conversationId": "${turn.conversation}", "turnId": "${turn.turnId}"}.`;
      return { kind: 'result', result: errorResult(text) };
    }
    default:
      return verdict satisfies never;
  }
}
