/**
 * A tool in TypeScript at work: a workflow under its agent's, of the code that the call began with. Input, questions,
 * answers and result pass through its history, which is sealed; what its agent's workflow sees is how it ended.
 */
import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import type { DurableToolResult } from '../../activities/durable-tools/durable-tools.ts';
import type { ToolRequest } from '../../turn/ask.ts';
import { inWords } from '../../elicitation/wording.ts';
import { createElicit } from '../elicit.ts';
import { questionUpdate } from '../messages.ts';
import type { DurableToolEnd, DurableToolInput } from '../messages.ts';
import { Phase } from '../phase.ts';
import { createQuestions } from '../questions.ts';
import type { Questions } from '../questions.ts';
import { readQuestionUpdate } from '../read-signal.ts';
import { createUnwrittenOutcomes } from '../unwritten-outcomes.ts';
import { beginTool, finishTool } from './activities.ts';
import { createToolActivities, floating } from './call-activity.ts';
import { createElicitForAuthor } from './elicit-for-author.ts';
import { createSayings } from './sinks.ts';
import { issuesOf } from './tool-code.ts';
import type { ReadSchema, ToolCode, ToolRunContext } from './tool-code.ts';
import { failureOf, resultOf } from './tool-result.ts';

type TitledTool = ToolCode & { title: string };

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
  tool: TitledTool,
  call: DurableToolInput,
  readSchema: ReadSchema,
): Promise<DurableToolEnd> {
  const { turn, toolCallId } = call;
  const running = new CancellationScope();
  const unwritten = createUnwrittenOutcomes();
  const questions = createQuestions();
  listenToPages(questions);
  const { elicit, areAllPending } = createElicit(turn, { questions, unwritten });
  const { pending, held: heldAnswers } = questions;
  const phase = new Phase(turn, {
    scope: running,
    children: noChildren,
    reportAs: toolCallId,
    pending,
    heldAnswers,
    areAllPending,
  });
  const sayings = createSayings(call);
  const unasked: ToolRequest[] = [];
  const authorElicit = createElicitForAuthor({
    tool,
    call,
    questions,
    unwritten,
    elicit,
    whileAsking: (toolCallId, ask) => phase.whileAsking(toolCallId, ask),
    readSchema,
    unasked,
    log: sayings.log,
  });
  const context: ToolRunContext = {
    elicit: (...question) => floating(authorElicit(...question)),
    activities: createToolActivities(call, tool.activities, (work) => phase.whileWorking(work)),
    user: turn.user,
    tenant: turn.tenant,
    toolCallId,
    ...sayings,
  };

  const begun = await CancellationScope.nonCancellable(() =>
    beginTool({ turn, toolCallId, ...(call.approval && { approval: call.approval }) }),
  );
  if (begun.kind === 'over') return { status: 'finished' };
  let wasWaiting = false;
  // Heard before whoever waits in this scope is, so that the phase is still the one that was cut short.
  running.cancelRequested.catch(() => {
    wasWaiting = phase.isWaiting();
    void unwritten.write();
  });
  const [over] = phase.whileRunning([begun.input], runToEnd);
  await over;
  phase.ended();
  await condition(allHandlersFinished);
  return { status: statusOf() };

  async function runToEnd(input: unknown): Promise<void> {
    const result = await running.run(() => run(input)).catch(toResult);
    const summary = `${tool.name}: ${result.kind}`;
    // Written down even while the call is being cancelled.
    await CancellationScope.nonCancellable(() =>
      unwritten.writtenBy((outcomes) =>
        finishTool.executeWithOptions({ summary }, [{ turn, toolCallId, result, outcomes, unasked }]),
      ),
    );
  }

  async function run(input: unknown): Promise<DurableToolResult> {
    const read = tool.input.safeParse(input);
    if (!read.success) return { kind: 'error', text: misfit(tool.title, issuesOf(read.error)) };
    return resultOf(tool, await tool.run(read.data, context));
  }

  function toResult(error: unknown): DurableToolResult {
    if (!running.consideredCancelled || !isCancellation(error)) return failureOf(tool.title, error);
    return { kind: 'stopped', status: statusOf(), wasWaiting };
  }

  function statusOf(): DurableToolEnd['status'] {
    if (!running.consideredCancelled) return 'finished';
    return phase.isSuperseded() ? 'superseded' : 'cancelled';
  }
}

const noChildren = {
  waiting: () => [],
  supersede: () => undefined,
  allAgreeTo: () => true,
  isRefused: () => false,
  withdraw: () => undefined,
  listen: () => undefined,
};

/** A page to which this tool has sent its user reports that it is done. */
function listenToPages(questions: Pick<Questions, 'apply'>): void {
  setHandler(questionUpdate, (message: unknown) => {
    const update = readQuestionUpdate(message);
    if (update?.news !== 'page_done') return;
    for (const id of update.elicitationIds) questions.apply(id, { type: 'page-done' });
  });
}

function misfit(title: string, issues: string): string {
  return `${title} did not run, because what it was called with does not match its input schema: ${issues}. Call it again with arguments that do.`;
}
