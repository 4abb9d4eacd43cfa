/** Tools that list and answer questions, for models whose client does not ask its user, and for programs that poll. */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import { toElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Service } from '../../../service/service.ts';
import { questionWords } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { answerQuestion, originOf, reservedForUser, shownQuestion } from './questions.ts';
import { readArguments, toJsonSchema, fallbackTool, errorResult, answerTool } from './tool.ts';
import { TurnResultSchema, turnResult } from './call-result.ts';
import { pendingResult } from './fallback.ts';
import type { Caller, Started, Tool } from './tool.ts';

const answer = {
  action: z.enum(['accept', 'decline', 'cancel']).describe('What the user decided, never you'),
  content: z.record(z.string(), z.unknown()).optional().describe('With accept of a form: what they entered'),
};
const FallbackArguments = z.object({ elicitId: ElicitationIdSchema, ...answer });
const AnswerArguments = z.object({ elicitationId: ElicitationIdSchema, ...answer });
const WaitArguments = z.object({ conversationId: ClientIdSchema.optional(), turnId: ClientIdSchema });

export function listMyQuestions(service: Service): Tool {
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

/** Listed only for clients that cannot show every kind of question. */
export function sendElicitationResult(service: Service): Tool {
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

export function answerQuestionTool(service: Service): Tool {
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

/** For turns that take longer than one call. */
export function waitForTurn(service: Service): Tool {
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
  service: Service,
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
  // Not the caller's question: the service refuses and audits it.
  if (!found) {
    await service.answerQuestion(caller.principal, {
      elicitationId,
      response: { action },
      address: caller.address,
      mayBeModel: true,
    });
    throw new Error('a question that the caller does not have was answered');
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
