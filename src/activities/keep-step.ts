/**
 * What remains of a model call: its message, the calls it asked for, and the news for the workflow.
 *
 * The message and the last events go in together, in one transaction; only then are the tool calls registered,
 * so that no call exists that the log has not announced. A crash between the two is mended by the next attempt,
 * which finds the message and registers its calls.
 */
import type { ModelTool } from '../mcp/catalogue.ts';
import type { AssistantPart, StepPart } from '../models/stream-step.ts';
import type { NewEvent, Storage, StoredMessage } from '../storage/storage.ts';
import type { TurnEvent } from '../turn/event.ts';
import { toEvent, toMessageContent } from '../turn/tool-result.ts';
import type { Turn } from '../turn/turn.ts';
import { isDelegateTool, taskIn } from './delegate-tool.ts';
import type { DelegateTool } from './delegate-tool.ts';
import { isToolCall, withFreshIds } from './fresh-ids.ts';
import type { ToolCall } from './fresh-ids.ts';
import { readStep } from './read-step.ts';
import { toolEventKey, toolMessageId } from './tool-results.ts';

export interface StepResult {
  /** `tool-calls`: the model is to be called again, even if no call is left to run because it got all of them wrong. */
  finish: 'stop' | 'tool-calls' | 'length' | 'refused';
  /** The calls to run. Those the model got wrong are not among them: it has been told already. */
  toolCalls: (ServerCall | DelegatedCall)[];
}

export interface ServerCall {
  toolCallId: string;
  toolName: string;
  server: string;
  /** The tool's own name at its server; null for the `connect_<server>` tool. */
  tool: string | null;
}

/** A task for another agent, which may take so many steps for it. */
export interface DelegatedCall {
  toolCallId: string;
  toolName: string;
  agent: string;
  maxSteps: number;
}

export interface Step {
  turn: Turn;
  step: number;
  attempt: number;
  /** The agent's transcript before this step. */
  messages: StoredMessage[];
  tools: (ModelTool | DelegateTool)[];
}

export type Done = Extract<StepPart, { type: 'done' }>;
type OwnEnd = 'length' | 'refused' | undefined;
type Parts = Pick<Storage, 'messages' | 'toolCalls' | 'turnLog' | 'turns'>;

/** `events` come before the step's own last ones. */
export async function keepStep(
  storage: Parts,
  of: Step,
  done: Done,
  events: NewEvent[],
): Promise<StepResult> {
  const { turn, step, attempt, tools } = of;
  const { content, mistakes } = withFreshIds(done, of);
  const calls = content.filter(isToolCall);
  const ownEnd = endOf(done.finish);
  const wrong = calls.flatMap((call) => {
    const text = mistakes.get(call.toolCallId) ?? missingTask(call);
    return text === undefined ? [] : [{ call, result: { kind: 'error', text } as const }];
  });
  await storage.turns.addUsage(turn, `step/${step}/${attempt}`, done.usage);
  await storage.messages.store(
    turn,
    [
      { id: messageIdOf(turn, step), role: 'assistant', content },
      ...wrong.map(({ call, result }) => ({
        id: toolMessageId(turn, call.toolCallId),
        role: 'tool' as const,
        content: toMessageContent(call, result),
      })),
    ],
    [
      ...events,
      ...calls.map((call) => ({ key: `tool/${call.toolCallId}`, event: inputEvent(call, tools) })),
      ...wrong.map(({ call, result }) => ({
        key: toolEventKey(call.toolCallId),
        event: toEvent(call, result),
      })),
      { key: `step/${step}/finish`, event: { type: 'finish-step', step, ...(ownEnd && { finish: ownEnd }) } },
    ],
  );
  const answered = wrong.map(({ call }) => call.toolCallId);
  return conclude(storage, of, calls, new Set(answered), ownEnd);
}

/** The result of a step whose message an earlier attempt has stored; null when there is none. */
export async function keptStep(storage: Parts, of: Step): Promise<StepResult | null> {
  const { turn, step, messages } = of;
  const said = messages.find(({ id }) => id === messageIdOf(turn, step));
  if (!said) return null;
  const calls = (said.content as AssistantPart[]).filter(isToolCall);
  const ids = new Set(messages.map(({ id }) => id));
  const answered = calls.map(({ toolCallId }) => toolCallId).filter((id) => ids.has(toolMessageId(turn, id)));
  const { finish } = await readStep(storage.turnLog, turn, step);
  return conclude(storage, of, calls, new Set(answered), finish);
}

async function conclude(
  storage: Parts,
  { turn, tools }: Step,
  calls: ToolCall[],
  answered: Set<string>,
  ownEnd: OwnEnd,
): Promise<StepResult> {
  const open = calls.filter(({ toolCallId }) => !answered.has(toolCallId));
  if (open.length > 0) {
    const rows = open.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input }));
    await storage.toolCalls.request(turn, rows);
  }
  return {
    finish: calls.length > 0 ? 'tool-calls' : (ownEnd ?? 'stop'),
    toolCalls: open.map(({ toolCallId, toolName }) => {
      const known = tools.find(({ modelName }) => modelName === toolName);
      if (known && 'agent' in known)
        return { toolCallId, toolName, agent: known.agent, maxSteps: known.maxSteps };
      // Offered when the model was asked, gone since: running the call will say so.
      const { server, tool } = known ?? { server: toolName, tool: toolName };
      return { toolCallId, toolName, server, tool };
    }),
  };
}

function messageIdOf({ turnId, delegation }: Turn, step: number): string {
  return delegation ? `${turnId}/agent/${delegation.toolCallId}/${step}` : `${turnId}/${step}`;
}

function missingTask({ toolName, input }: ToolCall): string | undefined {
  return isDelegateTool(toolName) && taskIn(input) === null
    ? `${toolName} needs a "task" in words, so nobody was asked. Call it again with one.`
    : undefined;
}

function inputEvent({ toolCallId, toolName, input }: ToolCall, tools: Step['tools']): TurnEvent {
  const event = { type: 'tool-input-available', toolCallId, toolName, input } as const;
  const known = tools.find(({ modelName }) => modelName === toolName);
  return known && 'agent' in known ? { ...event, agent: known.agent } : event;
}

function endOf(finish: Done['finish']): OwnEnd {
  if (finish === 'content-filter') return 'refused';
  return finish === 'length' ? 'length' : undefined;
}
