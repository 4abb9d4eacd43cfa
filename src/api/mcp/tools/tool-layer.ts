/** The tools of one caller, and what becomes of their calls: the door of this folder. */
import type { ElicitationResponse } from '../../../elicitation/elicitation.ts';
import type { FoundTurn, OwnTurn, TurnIds } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import { agentTools } from './agent-tools.ts';
import { answerQuestion } from './answers.ts';
import type { Verdict } from './answers.ts';
import { exposedTools } from './exposed-tools.ts';
import { followCall, watchCall } from './follow-call.ts';
import type { CallStage, Following, WatchedCall, Watching } from './follow-call.ts';
import { answerQuestionTool, listMyQuestions, sendElicitationResult, waitForTurn } from './question-tools.ts';
import { refusalOf } from './refusals.ts';
import type { Caller, Started, Tool, ToolCall, ToolDescription } from './tool.ts';

export interface ToolLayer {
  /** What this caller is offered, in the same order every time. */
  list(caller: Caller): Promise<ToolDescription[]>;
  /** Null when the caller has no tool of this name. What the caller did wrong is a result. */
  start(caller: Caller, call: ToolCall): Promise<Started | null>;
  /** The turn of an earlier call; null when the caller has none such. */
  find(caller: Caller, ids: TurnIds): Promise<FoundTurn | null>;
  /** Null when the call has no such question. */
  answer(caller: Caller, turn: OwnTurn, answer: Answer): Promise<Verdict | null>;
  follow(turn: OwnTurn, following: Following): Promise<CallStage>;
  /** For a stream that stays open while the call goes on. */
  watch(turn: OwnTurn, watching: Watching): WatchedCall;
  /** Only an explicit wish ends a turn; again is harmless. */
  cancel(caller: Caller, turn: OwnTurn): Promise<void>;
}

export interface Answer {
  elicitationId: string;
  response: ElicitationResponse;
}

export type ToolLayerService = Pick<
  Service,
  | 'agents'
  | 'startTurn'
  | 'followTurn'
  | 'findTurn'
  | 'findQuestion'
  | 'answerQuestion'
  | 'cancelTurn'
  | 'questionsOf'
  | 'questionPage'
  | 'exposedTools'
>;

export function createToolLayer(service: ToolLayerService): ToolLayer {
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
    // A client that shows everything needs the fallback only when it fails to: then the question's words name the tool.
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
