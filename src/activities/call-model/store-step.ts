/**
 * Stores a model step: its message, its tool calls, its events. All of it is written in one transaction, so that a call
 * exists only with its event, and a stored step is complete. The workflow gets what is stored, from whichever attempt.
 */
import { generateId } from 'ai';
import type { Config } from '../../platform/config/config.ts';
import { withOwnNames } from '../../models/tool-schema/argument-names.ts';
import type { AssistantPart, StepPart, Mistakes } from '../../models/stream-step.ts';
import type { NewEvent } from '../../storage/log/append.ts';
import type { Storage } from '../../storage/storage.ts';
import type { StoredMessage } from '../../storage/schema/turn-tables.ts';
import type { Ended } from '../../storage/tables/turn-end.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import { toolEventKey, toolMessageId, unfinishedCallResult } from '../../turn/call-result.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import type { TurnEvent } from '../../turn/event.ts';
import type { StepFinish, StepResult } from '../../turn/step.ts';
import { toEvent, toMessageContent } from '../../turn/tool-result.ts';
import type { Turn, TurnRef } from '../../turn/turn.ts';
import { isDelegateTool, taskIn } from './agent-tools.ts';
import { askUserTool, readModelQuestion } from '../model-question.ts';
import type { AgentTool, FittedTool } from './agent-tools.ts';

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

type WrittenStep =
  /** `ended`: set if this step ended the turn. */
  | { kind: 'kept'; result: StepResult; ended: Ended | null }
  /** Another attempt stored the step before. */
  | { kind: 'known'; finish: StepFinish };

interface ModelAnswer {
  done: Done;
  /** Written before the events that `keepStep` adds. */
  events: NewEvent[];
  /** What the model was not given of the transcript, by message id. */
  leftOut?: ReadonlyMap<string, LeftOut>;
}

/** The last step of the turn's own agent ends the turn. */
export async function keepStep(
  { steps }: Storage,
  of: Step,
  { done, events, leftOut }: ModelAnswer,
): Promise<WrittenStep> {
  const { turn, step, attempt, tools } = of;
  const { content, mistakes } = withFreshIds(done, of);
  const calls = content.filter(isToolCall);
  const ownEnd = endOf(done.finish);
  const wrong = refusedCalls(calls, mistakes, of).flatMap(({ call, failure }) =>
    failure ? [{ call, result: { kind: 'failed', failure } as const }] : [],
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

/** The result of a step that is stored, the same for every attempt. `messages`: as they are now. */
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
      if (known && 'isFrontend' in known)
        // Workflow code of earlier releases counts it as a form.
        return { kind: 'question', toolCallId, toolName, perTurn: Number.MAX_SAFE_INTEGER, isFrontend: true };
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
      // The tool was removed since the model was asked: running the call reports that.
      const { server, tool } = known ?? { server: toolName, tool: toolName };
      return { kind: 'server', toolCallId, toolName, server, tool };
    }),
  };
}

/** For each call, why it is not run; undefined if it is. */
function refusedCalls(calls: ToolCallPart[], mistakes: Mistakes, { turn, tools, limits }: Step) {
  const read = calls.map((call) => {
    const failure = mistakes.get(call.toolCallId) ?? missingTask(call) ?? unfitQuestion(call, tools);
    const tool = tools.find(({ modelName }) => modelName === call.toolName);
    return { call, failure, delegate: tool && delegateIn(tool) };
  });
  const delegating = read.flatMap(({ call: { toolCallId }, failure, delegate }) =>
    delegate && !failure ? [{ toolCallId, ...delegate }] : [],
  );
  const refused = delegationsRefused(delegating, turn, limits);
  return read.map(({ call, failure }) => ({ call, failure: failure ?? refused.get(call.toolCallId) }));
}

function missingTask({ toolName: tool, input }: ToolCallPart): CallFailure | undefined {
  return isDelegateTool(tool) && taskIn(input) === null ? { code: 'no_task', tool } : undefined;
}

function messageIdOf({ turnId, delegation }: Turn, step: number): string {
  return delegation ? `${turnId}/agent/${delegation.toolCallId}/${step}` : `${turnId}/${step}`;
}

function unfitQuestion({ toolName, input }: ToolCallPart, tools: AgentTool[]): CallFailure | undefined {
  if (!tools.some(({ modelName }) => modelName === askUserTool && modelName === toolName)) return undefined;
  const read = readModelQuestion(input);
  return read.kind === 'refused' ? { code: 'form_refused', why: read.reason } : undefined;
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

/** The input with the tool's own argument names, which providers may not accept. The model's message keeps the other names. */
function ownInput(input: unknown, tool: FittedTool | undefined): unknown {
  return tool?.argumentNames ? withOwnNames(input, tool.inputSchema, tool.argumentNames) : input;
}

/** Undefined if the tool is no other agent. */
function delegateIn(tool: AgentTool): Delegate | undefined {
  if ('agent' in tool) return { agent: tool.agent, title: tool.title, isRemote: false };
  if (!('delegate' in tool) || tool.delegate === undefined) return undefined;
  return { agent: tool.server, title: tool.delegate, isRemote: true };
}

function endOf(finish: Done['finish']): OwnEnd {
  if (finish === 'content-filter') return 'refused';
  return finish === 'length' ? 'length' : undefined;
}

type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;

interface Said {
  content: AssistantPart[];
  /** By call id. */
  mistakes: Mistakes;
}

/**
 * "At most once" depends on unique call ids, and some model servers give the first call of every answer the same id. An
 * id that is empty, or that the transcript already contains, is replaced.
 */
function withFreshIds(done: Said, { turn, messages }: { turn: TurnRef; messages: StoredMessage[] }): Said {
  const seen = new Set<string>(['']);
  for (const { role, content } of messages) {
    if (role !== 'assistant' || !Array.isArray(content)) continue;
    for (const { toolCallId } of (content as AssistantPart[]).filter(isToolCall)) seen.add(toolCallId);
  }
  const mistakes: Mistakes = new Map();
  const content = done.content.map((part) => {
    if (!isToolCall(part)) return part;
    // Models of other agents in this turn may use the same id.
    const isTaken = turn.delegation !== undefined || seen.has(part.toolCallId);
    const toolCallId = isTaken ? `call_${generateId()}` : part.toolCallId;
    seen.add(toolCallId);
    const mistake = done.mistakes.get(part.toolCallId);
    if (mistake !== undefined) mistakes.set(toolCallId, mistake);
    return { ...part, toolCallId };
  });
  return { content, mistakes };
}

function isToolCall(part: AssistantPart): part is ToolCallPart {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

/** The agent that gets a task. */
interface Delegate {
  agent: string;
  title: string;
  isRemote: boolean;
}

interface Delegating extends Delegate {
  toolCallId: string;
}

/** Calls that exceed a limit of depth or number. Their agents are not asked. */
function delegationsRefused(
  calls: Delegating[],
  { delegation, hops = 0 }: Turn,
  { maxDepth, maxPerStep }: Config['delegation'],
): Map<string, CallFailure> {
  const depth = delegation?.path.length ?? 0;
  // The task may have come from that remote agent, which may not count hops.
  const isTooDeep = ({ isRemote }: Delegating) => depth + (isRemote ? hops : 0) >= maxDepth;
  const refused = new Map<string, CallFailure>();
  for (const [index, call] of calls.entries()) {
    const exceeded = isTooDeep(call)
      ? ({ why: 'too-often', limit: maxDepth } as const)
      : index >= maxPerStep && ({ why: 'too-many', limit: maxPerStep } as const);
    if (exceeded) refused.set(call.toolCallId, { code: 'not_handed_on', agent: call.title, ...exceeded });
  }
  return refused;
}
