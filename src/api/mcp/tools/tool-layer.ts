/** The tools of one caller, and what becomes of their calls: the door of this folder. */
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import { agentTools } from './agent-tools.ts';
import { followCall } from './follow-call.ts';
import type { CallStage, Following } from './follow-call.ts';
import { refusalOf } from './refusals.ts';
import type { Caller, Started, Tool, ToolCall, ToolDescription } from './tool.ts';

export interface ToolLayer {
  /** What this caller may call, in the same order every time. */
  list(caller: Caller): ToolDescription[];
  /** Null when the caller has no tool of this name. What the caller did wrong is a result. */
  start(caller: Caller, call: ToolCall): Promise<Started | null>;
  follow(turn: OwnTurn, following: Following): Promise<CallStage>;
}

export type ToolLayerService = Pick<Service, 'agents' | 'startTurn' | 'followTurn'>;

export function createToolLayer(service: ToolLayerService): ToolLayer {
  const everyone = agentTools(service);
  const toolsOf = (_: Caller): Tool[] => everyone;
  return {
    list: (caller) => toolsOf(caller).map(({ description }) => description),
    async start(caller, call) {
      const tool = toolsOf(caller).find(({ description }) => description.name === call.name);
      if (!tool) return null;
      try {
        return await tool.start(caller, call);
      } catch (error) {
        const result = refusalOf(error);
        if (result) return { kind: 'result', result };
        throw error;
      }
    },
    follow: (turn, following) => followCall(service, turn, following),
  };
}
