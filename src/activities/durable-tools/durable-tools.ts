/** What the workflow of a tool in TypeScript reads and writes. For the workers of tools, whose histories are sealed. */
import { activityInfo } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { unaskedForModel } from '../../elicitation/model-question.ts';
import { questionAsText } from '../../elicitation/question-as-text.ts';
import { unfinishedForModel } from '../../elicitation/wording.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { Storage } from '../../storage/storage.ts';
import type { GivenApproval } from '../../turn/tool-call.ts';
import type { ToolRequest } from '../../turn/ask.ts';
import type { ToolResult } from '../../turn/tool-result.ts';
import { answerContent } from '../questions/answer-content.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import { endUnlessAsApproved } from './approval.ts';
import type { DurableCallRef } from './durable-calls.ts';
import type { ToolProgressWriters } from './progress-writers.ts';

/** `stopped`: the call was cut short, and had not come to a result of its own. */
export type DurableToolResult =
  | ToolResult
  | { kind: 'stopped'; status: 'finished' | 'cancelled' | 'superseded'; wasWaiting: boolean };

/** `over`: the call was withdrawn before anybody began it, or is not what was approved. */
export type BegunTool = { kind: 'begun'; input: unknown } | { kind: 'over' };

interface BeginTool extends DurableCallRef {
  /** Where a person had to approve it. */
  approval?: GivenApproval;
}

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'toolEffects' | 'elicitations' | 'approvals'>;
  keys: KeyRing;
  logger: Logger;
  progress: Pick<ToolProgressWriters, 'rest'>;
}

export function createDurableToolActivities(parts: Dependencies) {
  const { storage, keys, progress } = parts;
  return {
    async beginTool({ turn, toolCallId, approval }: BeginTool): Promise<BegunTool> {
      const { attempt } = activityInfo();
      const call = await requestedToolCall(storage, turn, toolCallId);
      if (approval && (await endUnlessAsApproved(parts, turn, call, approval)) === 'ended')
        return { kind: 'over' };
      const isStarted = await storage.toolCalls.start(turn, toolCallId, { execution: 0, attempt });
      const { state } = await requestedToolCall(storage, turn, toolCallId);
      // Started before: by an attempt of this whose worker died before it said so.
      return isStarted || state !== 'finished' ? { kind: 'begun', input: call.input } : { kind: 'over' };
    },

    /** What the user has filled in. */
    async readToolAnswer(input: {
      elicitationId: string;
      responseId: string;
      outcomes: Settlement[];
    }): Promise<unknown> {
      const { elicitationId, responseId, outcomes } = input;
      await storage.elicitations.settleAll(outcomes);
      const content = await answerContent({ storage, keys }, elicitationId, responseId);
      if (content === undefined)
        throw new Error(`Answer ${responseId} to question ${elicitationId} is not in the database.`);
      return content ?? {};
    },

    async finishTool(
      input: DurableCallRef & {
        result: DurableToolResult;
        outcomes: Settlement[];
        /** Absent in calls of code that was bundled before. */
        unasked?: ToolRequest[];
      },
    ): Promise<void> {
      const { turn, toolCallId, result, outcomes, unasked = [] } = input;
      await progress.rest(turn, toolCallId);
      await storage.elicitations.settleAll(outcomes);
      const call = await requestedToolCall(storage, turn, toolCallId);
      const told = result.kind === 'stopped' ? inWords(result) : result;
      const remark = unaskedForModel(unasked.map(unaskedAsText), turn.user !== null);
      await finishToolCall(storage, turn, call, remark === null ? told : { ...told, remark });
      await storage.toolEffects.forgetResults(activityInfo().workflowExecution?.workflowId ?? '');
    },
  };
}

function inWords({ status, wasWaiting }: Extract<DurableToolResult, { kind: 'stopped' }>): ToolResult {
  const end = status === 'finished' ? 'cancelled' : status;
  return { kind: 'error', text: unfinishedForModel(end, wasWaiting ? 'paused' : 'started') };
}

export type DurableToolActivities = ReturnType<typeof createDurableToolActivities>;

/** The address of a page belongs to a question that was never opened, so it leads nowhere. */
function unaskedAsText(request: ToolRequest): string {
  return request.mode === 'url' ? request.message : questionAsText(request);
}
