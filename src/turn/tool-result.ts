/** A finished tool call as the transcript keeps it: for the model a `tool` message, for the log an event. */
import type { TurnEvent } from './event.ts';

export type ToolResult =
  | { kind: 'output'; output: McpResult }
  /** Something for the model to read instead of a result. */
  | { kind: 'error'; text: string };

/** MCP's `CallToolResult`, as it came over the wire. */
export interface McpResult {
  content?: McpContent[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

export type McpContent = { type: string; [key: string]: unknown };

interface Call {
  toolCallId: string;
  toolName: string;
}

export function toEvent(call: Call, result: ToolResult): TurnEvent {
  const { toolCallId, toolName } = call;
  if (result.kind === 'error')
    return { type: 'tool-output-error', toolCallId, toolName, errorText: result.text };
  if (result.output.isError)
    return { type: 'tool-output-error', toolCallId, toolName, errorText: textOf(result.output) };
  return { type: 'tool-output-available', toolCallId, toolName, output: result.output };
}

/** Content of an AI SDK `tool` message. */
export function toMessageContent(call: Call, result: ToolResult): unknown {
  return [
    {
      type: 'tool-result',
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      output: toModelOutput(result),
    },
  ];
}

function toModelOutput(result: ToolResult): unknown {
  if (result.kind === 'error') return { type: 'error-text', value: result.text };
  const { output } = result;
  if (output.isError) return { type: 'error-text', value: textOf(output) };
  const blocks = output.content ?? [];
  if (blocks.length === 0) return { type: 'json', value: output.structuredContent ?? null };
  return { type: 'content', value: blocks.map(toModelBlock) };
}

/** Pictures, sounds and files go to the model as such; whatever it could not read stays readable as JSON. */
function toModelBlock(block: McpContent): unknown {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: String(block['text']) };
    case 'image':
    case 'audio':
      return fileBlock(block['data'], block['mimeType']);
    case 'resource': {
      const resource = (block['resource'] ?? {}) as Record<string, unknown>;
      if (typeof resource['blob'] === 'string') return fileBlock(resource['blob'], resource['mimeType']);
      if (typeof resource['text'] === 'string') return { type: 'text', text: resource['text'] };
      return { type: 'text', text: JSON.stringify(block) };
    }
    default:
      return { type: 'text', text: JSON.stringify(block) };
  }
}

function fileBlock(data: unknown, mediaType: unknown): unknown {
  const type = typeof mediaType === 'string' ? mediaType : 'application/octet-stream';
  return { type: 'file', mediaType: type, data: { type: 'data', data: String(data) } };
}

function textOf(output: McpResult): string {
  const texts = (output.content ?? [])
    .filter((block) => block.type === 'text')
    .map((block) => String(block['text']));
  return texts.join('\n') || 'The tool reported an error without a description.';
}
