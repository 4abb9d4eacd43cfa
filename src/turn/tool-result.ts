/** The result of a tool call as it is stored: a `tool` message for the model and an event for the log. Pure. */
import type { ToolOutcome, TurnEvent } from './event.ts';
import { toKeptOutput } from './kept-output.ts';
import { errorText, toModelOutput, withRemark } from './model-output.ts';
import type { McpResult } from './tool-content.ts';

export type { ToolOutcome } from './event.ts';
export type { McpResult } from './tool-content.ts';

export type ToolResult = (
  | { kind: 'output'; output: McpResult }
  /** A text for the model in place of a result. */
  | { kind: 'error'; text: string }
) & {
  /** A text of ours that only the model reads, after the tool's result. */
  remark?: string | undefined;
};

interface Call {
  toolCallId: string;
  toolName: string;
}

/** `ofText`: how a call ended that has a text in place of a result. */
export function outcomeOf(result: ToolResult, ofText: ToolOutcome): ToolOutcome {
  if (result.kind === 'error') return ofText;
  return result.output.isError === true ? 'tool_error' : 'ok';
}

/** `ofText` as in `outcomeOf`. */
export function toEvent(call: Call, result: ToolResult, ofText: ToolOutcome = 'failed'): TurnEvent {
  const { toolCallId, toolName } = call;
  const failed = { type: 'tool-output-error', toolCallId, toolName } as const;
  const outcome = outcomeOf(result, ofText);
  if (result.kind === 'error') return { ...failed, errorText: result.text, outcome };
  const { output } = result;
  if (output.isError === true) return { ...failed, errorText: errorText(output), outcome };
  return { type: 'tool-output-available', toolCallId, toolName, output: toKeptOutput(output) };
}

/** Content of an AI SDK `tool` message. */
export function toMessageContent(call: Call, result: ToolResult): unknown {
  const { toolCallId, toolName } = call;
  const { remark } = result;
  const output =
    result.kind === 'error'
      ? { type: 'error-text', value: withRemark(result.text, remark) }
      : toModelOutput(result.output, remark);
  return [{ type: 'tool-result', toolCallId, toolName, output }];
}
