/** The tools that a caller is offered, and their calls. Other folders use `tools/` through this file. */
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { FoundTurn, OwnTurn, TurnIds } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { ServiceErrorCode } from '../../../service/service-error.ts';
import { agentTools, exposedTools } from './agent-tools.ts';
import { answerQuestion } from './questions.ts';
import type { Verdict } from './questions.ts';
import { followCall, watchCall } from './follow-call.ts';
import type { CallStage, Following, WatchedCall, Watching } from './follow-call.ts';
import { answerQuestionTool, listMyQuestions, sendElicitationResult, waitForTurn } from './question-tools.ts';
import { InvalidArguments, errorResult } from './tool.ts';
import type { Caller, Started, Tool, ToolCall, ToolDescription, ToolResult } from './tool.ts';

/** What serves a request, in either era of the protocol. */
export interface McpContext {
  layer: ToolLayer;
  service: Service;
}

export interface ToolLayer {
  /** Always in the same order. */
  list(caller: Caller): Promise<ToolDescription[]>;
  /** Null if the caller has no tool of this name. A mistake of the caller is a result. */
  start(caller: Caller, call: ToolCall): Promise<Started | null>;
  /** The turn of an earlier call; null if the caller has no such turn. */
  find(caller: Caller, ids: TurnIds): Promise<FoundTurn | null>;
  /** Null if the turn has no such question. */
  answer(
    caller: Caller,
    turn: OwnTurn,
    answer: { elicitationId: string; response: ElicitationResponse },
  ): Promise<Verdict | null>;
  follow(turn: OwnTurn, following: Following): Promise<CallStage>;
  /** For a stream that stays open while the call goes on. */
  watch(turn: OwnTurn, watching: Watching): WatchedCall;
  /** Idempotent. Nothing but this ends a turn early: a disconnect does not. */
  cancel(caller: Caller, turn: OwnTurn): Promise<void>;
}

export function createToolLayer(service: Service): ToolLayer {
  const agents = agentTools(service);
  const everyone = [listMyQuestions(service), answerQuestionTool(service), waitForTurn(service)];
  const fallback = sendElicitationResult(service);
  const ownTools = ({ principal, agent }: Caller): Tool[] => {
    const offered = agents.filter(
      ({ description }) => agent === undefined || description.name === `ask_${agent}`,
    );
    return [...offered, ...everyone, ...(principal.kind === 'user' ? [fallback] : [])];
  };
  const toolsOf = async (caller: Caller): Promise<Tool[]> => [
    ...ownTools(caller),
    ...(await exposedTools(service, caller)),
  ];
  return {
    // A client that shows every kind of question needs the fallback only if showing fails; then the result names the tool.
    list: async (caller) =>
      (await toolsOf(caller))
        .filter((tool) => tool !== fallback || !(caller.shows.form && caller.shows.url))
        .map(({ description }) => description),

    async start(caller, call) {
      const isCalled = ({ description }: Tool) => description.name === call.name;
      const tool = ownTools(caller).find(isCalled) ?? (await exposedTools(service, caller)).find(isCalled);
      if (!tool) return null;
      try {
        return await tool.start(caller, call);
      } catch (error) {
        const result = refusalOf(error);
        if (result) return { kind: 'result', result };
        throw error;
      }
    },

    find: ({ principal, address }, ids) => service.findTurn(principal, { ...ids, address }),

    async answer(caller, turn, { elicitationId, response }) {
      const found = await service.findQuestion(caller.principal, elicitationId);
      if (found?.turn.turnId !== turn.turnId) return null;
      return answerQuestion(service, caller, { question: found.question, response });
    },

    follow: (turn, following) => followCall(service, turn, following),
    watch: (turn, watching) => watchCall(service, turn, watching),

    async cancel({ principal }, turn) {
      await service.cancelTurn(principal, turn);
    },
  };
}

/** What the model can do about each refusal, beyond the error's message. */
const remedies = {
  invalid_request: '',
  unauthenticated: '',
  forbidden: '',
  cannot_act_for_users: '',
  person_required: '',
  unknown_agent: '',
  unknown_server: '',
  conversation_not_found: 'Leave conversationId out to begin a new conversation.',
  turn_not_found: '',
  turn_in_progress:
    'This conversation is still at work on an earlier message. Call wait_for_turn with this conversationId and turnId, or leave conversationId out to begin a new conversation.',
  message_id_reused: '',
  idempotency_key_reused: '',
  elicitation_not_found: 'Call list_my_questions to see which questions are open.',
  approval_not_found: '',
  not_your_question: '',
  invalid_content: '',
  already_answered: 'Do not answer it again; call wait_for_turn to see what came of it.',
  expired: '',
  images_not_taken: '',
  too_many_hops: '',
  turn_over: '',
  rate_limited: '',
  unavailable: '',
} satisfies Record<ServiceErrorCode, string>;

/** Null for unexpected errors. */
function refusalOf(error: unknown): ToolResult | null {
  if (error instanceof InvalidArguments) return errorResult(error.message);
  if (!(error instanceof ServiceError)) return null;
  const { code, message, details } = error;
  const issues = details.issues?.map(({ path, detail }) => `${path.join('.')}: ${detail}`) ?? [];
  const turn = details.turnId === undefined ? '' : ` (turnId: ${details.turnId})`;
  const parts = [code === 'turn_in_progress' ? '' : message, ...issues, remedies[code] + turn];
  return errorResult(parts.filter((part) => part !== '').join(' '));
}
