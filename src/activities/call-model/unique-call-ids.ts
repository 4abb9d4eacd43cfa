import { generateId } from 'ai';
import type { AssistantPart, Mistakes } from '../../models/stream-step.ts';
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import type { TurnRef } from '../../turn/turn.ts';

export type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;

interface Said {
  content: AssistantPart[];
  /** By call id. */
  mistakes: Mistakes;
}

/**
 * At-most-once stands on call ids, and some model servers give the first call of every answer the same one. An
 * id that the transcript has seen, or that is empty, is replaced.
 */
export function withFreshIds(
  done: Said,
  { turn, messages }: { turn: TurnRef; messages: StoredMessage[] },
): Said {
  const seen = new Set<string>(['']);
  for (const { role, content } of messages) {
    if (role !== 'assistant' || !Array.isArray(content)) continue;
    for (const { toolCallId } of (content as AssistantPart[]).filter(isToolCall)) seen.add(toolCallId);
  }
  const mistakes: Mistakes = new Map();
  const content = done.content.map((part) => {
    if (!isToolCall(part)) return part;
    // What a delegated agent's model calls a call, other models of the turn may call theirs.
    const isTaken = turn.delegation !== undefined || seen.has(part.toolCallId);
    const toolCallId = isTaken ? `call_${generateId()}` : part.toolCallId;
    seen.add(toolCallId);
    const mistake = done.mistakes.get(part.toolCallId);
    if (mistake !== undefined) mistakes.set(toolCallId, mistake);
    return { ...part, toolCallId };
  });
  return { content, mistakes };
}

export function isToolCall(part: AssistantPart): part is ToolCallPart {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}
