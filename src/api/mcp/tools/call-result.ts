/** The tool results of turns. Pure. */
import { z } from 'zod';
import { ownText } from '../../../turn/fold-turn.ts';
import type { FoldedTurn } from '../../../turn/fold-turn.ts';
import { isDirectCall } from '../../../turn/message-parts.ts';
import type { TurnEndStatus, TurnRef } from '../../../turn/turn.ts';
import { errorResult } from './tool.ts';
import type { ToolResult } from './tool.ts';

const turnStatuses = ['completed', 'failed', 'cancelled', 'superseded', 'working', 'input_required'] as const;

/** The structured part of every result about a turn. */
export const TurnResultSchema = z.looseObject({
  conversationId: z.string().describe('Pass it on with the next message to go on with this conversation'),
  turnId: z.string(),
  status: z
    .enum(turnStatuses)
    .describe('working: wait_for_turn waits on; input_required: questions are open, see questions'),
  text: z.string().optional().describe('What the agent said'),
  questions: z
    .array(z.looseObject({ elicitId: z.string(), message: z.string() }))
    .optional()
    .describe('Open questions to the user'),
});

type TurnResult = z.input<typeof TurnResultSchema>;

/** A turn, as a client names it. */
export type TurnName = Pick<TurnRef, 'conversation' | 'turnId'>;

export function turnResult(
  { conversation, turnId }: TurnName,
  rest: Omit<TurnResult, 'conversationId' | 'turnId'>,
) {
  return { conversationId: conversation, turnId, ...rest };
}

/** The turn is still running, and this call has waited long enough. */
export function workingResult(turn: TurnName): ToolResult {
  const { conversation, turnId } = turn;
  const text = `The agent is still at work. Call wait_for_turn {"conversationId": "${conversation}", "turnId": "${turnId}"} to wait on; do not send the message again.`;
  return { content: [{ type: 'text', text }], structuredContent: turnResult(turn, { status: 'working' }) };
}

export function resultOfTurn(turn: TurnName, seen: FoldedTurn, status: TurnEndStatus): ToolResult {
  const direct = directResult(seen, status);
  const text = direct ? textIn(direct.result) : ownText(seen).trim();
  const trouble = status === 'completed' ? undefined : (seen.failure?.errorText ?? wordsFor(status));
  const words = [text, trouble].filter((part) => part !== undefined && part !== '').join('\n\n');
  return {
    content: [
      { type: 'text', text: words },
      { type: 'text', text: `conversationId: ${turn.conversation}` },
    ],
    structuredContent: turnResult(turn, { status, text: words }),
    ...((status !== 'completed' || direct?.result.isError) && { isError: true }),
  };
}

/** If the turn was the call of one tool: that tool's result. Null for other turns, and if there is none. */
export function directResult(
  { items }: FoldedTurn,
  status: TurnEndStatus,
): { tool: string; result: ToolResult } | null {
  const call = items.find((item) => item.type === 'call' && isDirectCall(item.id));
  const end = call?.type === 'call' ? call.result : undefined;
  if (!end) return null;
  const { toolName: tool } = end;
  if (end.type === 'tool-output-error') return { tool, result: errorResult(end.errorText) };
  const { content = [], structuredContent } = end.output as McpOutput;
  const isOver = status === 'completed';
  return {
    tool,
    result: { content, ...(structuredContent && { structuredContent }), ...(!isOver && { isError: true }) },
  };
}

interface McpOutput {
  content?: ToolResult['content'];
  structuredContent?: Record<string, unknown>;
}

function textIn({ content }: ToolResult): string {
  return content.map(({ text }) => text).join('\n\n');
}

function wordsFor(status: Exclude<TurnEndStatus, 'completed'>): string {
  switch (status) {
    case 'failed':
      return 'The turn failed.';
    case 'cancelled':
      return 'The turn was cancelled before it had an answer.';
    case 'superseded':
      return 'A newer message in this conversation took the place of this one, so it has no answer of its own.';
    default:
      return status satisfies never;
  }
}
