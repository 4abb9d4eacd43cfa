/**
 * A tool in TypeScript at work: a workflow under its agent's, of the code that the call began with. Input, questions,
 * answers and result pass through its history, which is sealed; its agent's workflow sees only how it ended.
 */
import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  isCancellation,
} from '@temporalio/workflow';
import type { DurableToolResult } from '../../activities/durable-tools/durable-tools.ts';
import { inWords } from '../../elicitation/wording.ts';
import type { ToolRequest } from '../../turn/ask.ts';
import type { DurableToolEnd, DurableToolInput } from '../messages.ts';
import { OperatorView } from '../operator-view.ts';
import { Questions } from '../questions.ts';
import { beginTool, finishTool } from './activities.ts';
import { createToolActivities, floating } from './call-activity.ts';
import { createElicitForAuthor } from './elicit-for-author.ts';
import { createReports } from './sinks.ts';
import type { ReadSchema, ToolCode, ToolRunContext } from '../../turn/tool-code.ts';
import { failureOf, misfitOf, resultOf } from '../../turn/code-result.ts';

/** The workflow of all tools of a folder, as `defineTool` made them. */
export function createDurableTool(defined: readonly unknown[], readSchema: ReadSchema) {
  const tools = defined as readonly ToolCode[];
  return async function durableTool(call: DurableToolInput): Promise<DurableToolEnd> {
    const tool = tools.find(({ name }) => name === call.toolName);
    if (!tool)
      throw ApplicationFailure.nonRetryable(`There is no tool ${call.toolName} here.`, 'UnknownTool');
    return runTool({ ...tool, title: tool.title ?? inWords(tool.name) }, call, readSchema);
  };
}

async function runTool(
  tool: ToolCode & { title: string },
  call: DurableToolInput,
  readSchema: ReadSchema,
): Promise<DurableToolEnd> {
  const { turn, toolCallId, approval } = call;
  const scope = CancellationScope.current();
  const view = new OperatorView();
  const questions = new Questions(turn.user, (ids) => view.settled(ids));
  const reports = createReports(call);
  const unasked: ToolRequest[] = [];
  const elicit = createElicitForAuthor({ tool, call, questions, view, readSchema, unasked, ...reports });
  const context: ToolRunContext = {
    elicit: (...question) => floating(elicit(...question)),
    activities: createToolActivities(call, tool.activities, view),
    user: turn.user,
    tenant: turn.tenant,
    toolCallId,
    ...reports,
  };
  let wasWaiting = false;
  // Called before anything in this scope stops waiting.
  scope.cancelRequested.catch(() => (wasWaiting = view.isWaiting));

  const begun = await CancellationScope.nonCancellable(() =>
    beginTool({ turn, toolCallId, ...(approval && { approval }) }),
  );
  if (begun.kind === 'over') return { status: 'finished' };
  const result = await view.whileRunning(toolCallId, () => run(begun.input).catch(toResult));
  // Written even while the call is being cancelled.
  await CancellationScope.nonCancellable(() =>
    finishTool.executeWithOptions({ summary: `${tool.name}: ${result.kind}` }, [
      { turn, toolCallId, result, unasked },
    ]),
  );
  await condition(allHandlersFinished);
  return { status: scope.consideredCancelled ? 'cancelled' : 'finished' };

  async function run(input: unknown): Promise<DurableToolResult> {
    const read = tool.input.safeParse(input);
    if (!read.success) return misfitOf(tool.title, read.error);
    return resultOf(tool, await tool.run(read.data, context));
  }

  function toResult(error: unknown): DurableToolResult {
    if (scope.consideredCancelled && isCancellation(error)) return { kind: 'stopped', wasWaiting };
    return failureOf(tool.title, error);
  }
}
