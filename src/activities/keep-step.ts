/**
 * What remains of a model call: its message, the calls it asked for, and the news for the workflow.
 *
 * The message and the last events go in together, in one transaction; only then are the tool calls registered,
 * so that no call exists that the log has not announced. A crash between the two is mended by the next attempt,
 * which finds the message and registers its calls.
 */
import { generateId } from 'ai';
import type { ModelTool } from '../mcp/catalogue.ts';
import type { AssistantPart, Mistakes, StepPart } from '../models/stream-step.ts';
import type { NewEvent, Storage, StoredMessage } from '../storage/storage.ts';
import { toEvent, toMessageContent } from '../turn/tool-result.ts';
import type { Turn } from '../turn/turn.ts';
import { readStep } from './read-step.ts';
import { toolEventKey, toolMessageId } from './tool-results.ts';

export interface StepResult {
  /** `tool-calls`: the model is to be called again, even if no call is left to run because it got all of them wrong. */
  finish: 'stop' | 'tool-calls' | 'length' | 'refused';
  /** The calls to run. Those the model got wrong are not among them: it has been told already. */
  toolCalls: { toolCallId: string; toolName: string; server: string; tool: string | null }[];
}

export interface Step {
  turn: Turn;
  step: number;
  attempt: number;
  /** The conversation before this step. */
  messages: StoredMessage[];
  tools: ModelTool[];
}

export type Done = Extract<StepPart, { type: 'done' }>;
type ToolCall = Extract<AssistantPart, { type: 'tool-call' }>;
type OwnEnd = 'length' | 'refused' | undefined;
type Parts = Pick<Storage, 'messages' | 'toolCalls' | 'turnLog' | 'turns'>;

/** `events` come before the step's own last ones. */
export async function keepStep(
  storage: Parts,
  of: Step,
  done: Done,
  events: NewEvent[],
): Promise<StepResult> {
  const { turn, step, attempt, messages } = of;
  const { content, mistakes } = withFreshIds(done, messages);
  const calls = content.filter(isToolCall);
  const ownEnd = endOf(done.finish);
  const wrong = calls.flatMap((call) => {
    const text = mistakes.get(call.toolCallId);
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
      ...calls.map(({ toolCallId, toolName, input }) => ({
        key: `tool/${toolCallId}`,
        event: { type: 'tool-input-available' as const, toolCallId, toolName, input },
      })),
      ...wrong.map(({ call, result }) => ({
        key: toolEventKey(call.toolCallId),
        event: toEvent(call, result),
      })),
      { key: `step/${step}/finish`, event: { type: 'finish-step', step, ...(ownEnd && { finish: ownEnd }) } },
    ],
  );
  return conclude(storage, of, calls, new Set(mistakes.keys()), ownEnd);
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
      // Offered when the model was asked, gone since: running the call will say so.
      const { server, tool } = known ?? { server: toolName, tool: toolName };
      return { toolCallId, toolName, server, tool };
    }),
  };
}

/**
 * At-most-once stands on call ids, and some model servers give the first call of every answer the same one. An
 * id that the conversation has seen, or that is empty, is replaced.
 */
function withFreshIds(done: Done, messages: StoredMessage[]): Pick<Done, 'content' | 'mistakes'> {
  const seen = new Set<string>(['']);
  for (const { role, content } of messages) {
    if (role !== 'assistant' || !Array.isArray(content)) continue;
    for (const { toolCallId } of (content as AssistantPart[]).filter(isToolCall)) seen.add(toolCallId);
  }
  const mistakes: Mistakes = new Map();
  const content = done.content.map((part) => {
    if (!isToolCall(part)) return part;
    const toolCallId = seen.has(part.toolCallId) ? `call_${generateId()}` : part.toolCallId;
    seen.add(toolCallId);
    const mistake = done.mistakes.get(part.toolCallId);
    if (mistake !== undefined) mistakes.set(toolCallId, mistake);
    return { ...part, toolCallId };
  });
  return { content, mistakes };
}

function messageIdOf(turn: Turn, step: number): string {
  return `${turn.turnId}/${step}`;
}

function isToolCall(part: AssistantPart): part is ToolCall {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

function endOf(finish: Done['finish']): OwnEnd {
  if (finish === 'content-filter') return 'refused';
  return finish === 'length' ? 'length' : undefined;
}
