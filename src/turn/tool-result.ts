/** The result of a tool call as it is stored: a `tool` message for the model and an event for the log. Pure. */
import type { TurnEvent } from './event.ts';
import { toKeptOutput } from './kept-output.ts';
import { errorText, toModelOutput, withRemark } from './model-output.ts';
import type { McpResult } from './tool-content.ts';

export type { McpResult } from './tool-content.ts';

/** How a tool call ended, as a code for logs and metrics. */
export type ToolOutcome =
  | 'ok'
  /** The tool reported an error. */
  | 'tool_error'
  /** The tool did not run, because of how the question before it was answered. */
  | 'decline'
  | 'cancel'
  | 'expired'
  /** The tool did not run: a person was needed, and could not be asked. */
  | 'not_asked'
  /** The server refuses an account that has just been connected. */
  | 'refused'
  /** The agent may not call this tool, or the call is not what was approved. */
  | 'not_allowed'
  | 'unreachable'
  /** The request was sent, and what became of it is not known. */
  | 'unknown'
  | 'failed';

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

export function toEvent(call: Call, result: ToolResult): TurnEvent {
  const { toolCallId, toolName } = call;
  if (result.kind === 'error')
    return { type: 'tool-output-error', toolCallId, toolName, errorText: result.text };
  const { output } = result;
  if (output.isError === true)
    return { type: 'tool-output-error', toolCallId, toolName, errorText: errorText(output) };
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
