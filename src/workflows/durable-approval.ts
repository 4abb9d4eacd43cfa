/** Runs a call of a tool in TypeScript; where a person has to approve it, the tool is begun after that, or never. */
import { proxyLocalActivities } from '@temporalio/workflow';
import type { DurableCallActivities } from '../activities/durable-tools/durable-calls.ts';
import type { DurableCall } from '../turn/tool-call.ts';
import { refuseToolCall } from './activities.ts';
import type { Children } from './children.ts';
import { runTool } from './durable-calls.ts';
import type { TurnInput } from './messages.ts';
import { shortWrites } from './short-writes.ts';
import { askForApproval } from './tool-call.ts';
import type { ToolCallParts } from './tool-call.ts';

const { permitDurableCall } = proxyLocalActivities<DurableCallActivities>(shortWrites);

type Parts = Pick<ToolCallParts, 'whileAsking' | 'elicit' | 'questions' | 'unwritten'> & {
  children: Pick<Children, 'run' | 'ended'>;
};

export async function runDurableCall(turn: TurnInput, call: DurableCall, parts: Parts): Promise<void> {
  if (!call.approval) return runTool(turn, call, parts);
  const { toolCallId, toolName } = call;
  const options = { summary: `${toolName}: approved?` };
  const permit = await permitDurableCall.executeWithOptions(options, [{ turn, toolCallId }]);
  switch (permit.kind) {
    case 'finished':
      return;
    case 'permitted':
      return runTool(turn, call, parts);
    case 'approval-required': {
      const { outcome, ...given } = await askForApproval(parts, permit.ask, permit.user);
      if (outcome === 'accept') {
        await parts.unwritten.write();
        return runTool(turn, call, parts, { ...given, digest: permit.ask.digest });
      }
      const refusal = { kind: 'approval', refusal: outcome, ...given } as const;
      const summary = `${toolName}: approval: ${outcome}`;
      return parts.unwritten.writtenBy((outcomes) =>
        refuseToolCall.executeWithOptions({ summary }, [
          { turn, toolCallId, server: null, refusal, outcomes },
        ]),
      );
    }
    default:
      return permit satisfies never;
  }
}
