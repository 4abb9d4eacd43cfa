/**
 * What remains of a model call: its message, the calls it asked for, and what the workflow is told.
 *
 * All of it goes in together, in one transaction, so that no call exists that the log has not announced, and whoever
 * finds the step kept finds everything. The workflow is told of what is kept, whichever attempt has said it.
 */
import type { Config } from '../../config/config.ts';
import { withOwnNames } from '../../models/tool-schema/argument-names.ts';
import type { AssistantPart, StepPart } from '../../models/stream-step.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import type { Ended } from '../../storage/ports/turns.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import { toolEventKey, toolMessageId, unfinishedCallResult } from '../../turn/call-result.ts';
import type { TurnEvent } from '../../turn/event.ts';
import type { StepFinish, StepResult } from '../../turn/step.ts';
import { toEvent, toMessageContent } from '../../turn/tool-result.ts';
import type { Turn } from '../../turn/turn.ts';
import { delegationsRefused } from './delegation-limits.ts';
import type { Delegate } from './delegation-limits.ts';
import { isDelegateTool, taskIn } from './delegate-tool.ts';
import { askUserTool, readModelQuestion } from './question-tool.ts';
import type { AgentTool, FittedTool } from './fit-tools.ts';
import { isToolCall, withFreshIds } from './unique-call-ids.ts';
import type { ToolCallPart } from './unique-call-ids.ts';

export interface Step {
  turn: Turn;
  step: number;
  attempt: number;
  /** The agent's transcript before this step. */
  messages: StoredMessage[];
  tools: FittedTool[];
  limits: Config['delegation'];
}

export type Done = Extract<StepPart, { type: 'done' }>;
type OwnEnd = 'length' | 'refused' | undefined;

export type WrittenStep =
  /** `ended`: the turn has ended with it. */
  | { kind: 'kept'; result: StepResult; ended: Ended | null }
  /** Another attempt has kept it before. */
  | { kind: 'known'; finish: StepFinish };

export interface Answer {
  done: Done;
  /** They come before the step's own last ones. */
  events: NewEvent[];
  /** Of the transcript, by message. */
  leftOut?: ReadonlyMap<string, LeftOut>;
}

/** The last step of the turn's own agent ends the turn. */
export async function keepStep(
  { steps }: Pick<Storage, 'steps'>,
  of: Step,
  { done, events, leftOut }: Answer,
): Promise<WrittenStep> {
  const { turn, step, attempt, tools } = of;
  const { content, mistakes } = withFreshIds(done, of);
  const calls = content.filter(isToolCall);
  const ownEnd = endOf(done.finish);
  const wrong = refusedCalls(calls, mistakes, of).flatMap(({ call, text }) =>
    text === undefined ? [] : [{ call, result: { kind: 'error', text } as const }],
  );
  const answered = new Set(wrong.map(({ call }) => call.toolCallId));
  const open = calls.filter(({ toolCallId }) => !answered.has(toolCallId));
  const finish = calls.length > 0 ? 'tool-calls' : (ownEnd ?? 'stop');
  const isLast = finish !== 'tool-calls' && !turn.delegation;
  const kept = {
    finish,
    usage: done.usage,
    calls: open.map(({ toolCallId, toolName, input }) => {
      const tool = tools.find(({ modelName }) => modelName === toolName);
      const code = tool && 'bundle' in tool && tool.executeMs !== undefined ? tool.bundle : undefined;
      return { toolCallId, toolName, input: ownInput(input, tool), ...(code !== undefined && { code }) };
    }),
    ...(leftOut && leftOut.size > 0 && { leftOut }),
    messages: [
      { id: messageIdOf(turn, step), role: 'assistant', content },
      ...wrong.map(({ call, result }) => ({
        id: toolMessageId(turn, call.toolCallId),
        role: 'tool' as const,
        content: toMessageContent(call, result),
      })),
    ],
    events: [
      ...events,
      ...calls.map((call) => ({ key: `tool/${call.toolCallId}`, event: inputEvent(call, tools) })),
      ...wrong.map(({ call, result }) => ({
        key: toolEventKey(call.toolCallId),
        event: toEvent(call, result),
      })),
      { key: `step/${step}/finish`, event: { type: 'finish-step', step, ...(ownEnd && { finish: ownEnd }) } },
    ],
    ...(isLast && { ending: { resultOf: unfinishedCallResult(turn, 'completed') } }),
  } satisfies Parameters<Storage['steps']['keep']>[2];
  const written = await steps.keep(turn, { step, attempt }, kept);
  if (written.kind === 'known') return written;
  const result = toResult(finish, open, tools);
  return { ...written, result: { ...result, ...(written.ended && { hasEnded: true }) } };
}

/** What the attempt that kept the step has told the workflow, or would have. `messages`: as they are now. */
export function keptStep({ turn, step, tools, messages }: Step, finish: StepFinish): StepResult {
  const said = messages.find(({ id }) => id === messageIdOf(turn, step));
  const calls = ((said?.content ?? []) as AssistantPart[]).filter(isToolCall);
  const ids = new Set(messages.map(({ id }) => id));
  const open = calls.filter(({ toolCallId }) => !ids.has(toolMessageId(turn, toolCallId)));
  return toResult(finish, open, tools);
}

function toResult(finish: StepFinish, open: ToolCallPart[], tools: Step['tools']): StepResult {
  return {
    finish,
    toolCalls: open.map(({ toolCallId, toolName }) => {
      const known = tools.find(({ modelName }) => modelName === toolName);
      if (known && 'agent' in known)
        return { kind: 'delegated', toolCallId, toolName, agent: known.agent, maxSteps: known.maxSteps };
      if (known && 'perTurn' in known)
        return { kind: 'question', toolCallId, toolName, perTurn: known.perTurn };
      if (known && 'bundle' in known) {
        const { bundle, approval, executeMs } = known;
        return {
          kind: 'durable',
          toolCallId,
          toolName,
          bundle,
          ...(approval && { approval }),
          ...(executeMs !== undefined && { executeMs }),
        };
      }
      // Offered when the model was asked, gone since: running the call will say so.
      const { server, tool } = known ?? { server: toolName, tool: toolName };
      return { kind: 'server', toolCallId, toolName, server, tool };
    }),
  };
}

/** What the model reads of each call that is not run; undefined of those that are. */
function refusedCalls(calls: ToolCallPart[], mistakes: Map<string, string>, { turn, tools, limits }: Step) {
  const read = calls.map((call) => {
    const text = mistakes.get(call.toolCallId) ?? missingTask(call) ?? unfitQuestion(call, tools);
    const tool = tools.find(({ modelName }) => modelName === call.toolName);
    return { call, text, delegate: tool && delegateIn(tool) };
  });
  const delegating = read.flatMap(({ call: { toolCallId }, text, delegate }) =>
    delegate && text === undefined ? [{ toolCallId, ...delegate }] : [],
  );
  const refused = delegationsRefused(delegating, turn, limits);
  return read.map(({ call, text }) => ({ call, text: text ?? refused.get(call.toolCallId) }));
}

function messageIdOf({ turnId, delegation }: Turn, step: number): string {
  return delegation ? `${turnId}/agent/${delegation.toolCallId}/${step}` : `${turnId}/${step}`;
}

function missingTask({ toolName, input }: ToolCallPart): string | undefined {
  return isDelegateTool(toolName) && taskIn(input) === null
    ? `${toolName} needs a "task" in words, so nobody was asked. Call it again with one.`
    : undefined;
}

function unfitQuestion({ toolName, input }: ToolCallPart, tools: AgentTool[]): string | undefined {
  if (!tools.some(({ modelName }) => modelName === askUserTool && modelName === toolName)) return undefined;
  const read = readModelQuestion(input);
  return read.kind === 'refused' ? `Nobody was asked. ${read.reason}` : undefined;
}

function inputEvent({ toolCallId, toolName, input }: ToolCallPart, tools: Step['tools']): TurnEvent {
  const known = tools.find(({ modelName }) => modelName === toolName);
  const event = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input: ownInput(input, known),
  } as const;
  const delegate = known && delegateIn(known);
  return delegate ? { ...event, agent: delegate.agent } : event;
}

/** With the tool's own names for its arguments, which providers may not accept. The model's message keeps its words. */
function ownInput(input: unknown, tool: FittedTool | undefined): unknown {
  return tool?.argumentNames ? withOwnNames(input, tool.inputSchema, tool.argumentNames) : input;
}

/** Of a tool that hands on a task. */
function delegateIn(tool: AgentTool): Delegate | undefined {
  if ('agent' in tool) return { agent: tool.agent, title: tool.title, isRemote: false };
  if (!('delegate' in tool) || tool.delegate === undefined) return undefined;
  return { agent: tool.server, title: tool.delegate, isRemote: true };
}

function endOf(finish: Done['finish']): OwnEnd {
  if (finish === 'content-filter') return 'refused';
  return finish === 'length' ? 'length' : undefined;
}
