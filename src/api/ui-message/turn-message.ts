/** The message that a reader of a turn's whole stream ends up with. Pure. */
import type { DynamicToolUIPart, TextUIPart, ReasoningUIPart, UIMessage, UIMessageChunk } from 'ai';
import type { LogEntry } from '../../turn/event.ts';
import type { Reader } from '../http/reader-headers.ts';
import { createTranslator } from './translate.ts';

type Parts = UIMessage['parts'];

export function foldMessage(chunks: Iterable<UIMessageChunk>): UIMessage {
  const message: UIMessage = { id: '', role: 'assistant', parts: [] };
  const { parts } = message;
  const open = new Map<string, TextUIPart | ReasoningUIPart>();
  const tools = new Map<string, DynamicToolUIPart>();

  const begin = (id: string, part: TextUIPart | ReasoningUIPart) => {
    open.set(id, part);
    parts.push(part);
  };

  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'start':
        message.id = chunk.messageId ?? '';
        break;
      case 'start-step':
        parts.push({ type: 'step-start' });
        break;
      case 'reset-step':
        parts.splice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
        open.clear();
        break;
      case 'text-start':
        begin(chunk.id, { type: 'text', text: '', state: 'streaming' });
        break;
      case 'reasoning-start':
        begin(chunk.id, { type: 'reasoning', text: '', state: 'streaming' });
        break;
      case 'text-delta':
      case 'reasoning-delta': {
        const part = open.get(chunk.id);
        if (part) part.text += chunk.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = open.get(chunk.id);
        if (part) part.state = 'done';
        open.delete(chunk.id);
        break;
      }
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = chunk;
        const part: DynamicToolUIPart = {
          type: 'dynamic-tool',
          toolName,
          toolCallId,
          state: 'input-available',
          input,
        };
        tools.set(toolCallId, part);
        parts.push(part);
        break;
      }
      case 'tool-output-available':
        finishTool(parts, tools.get(chunk.toolCallId), { state: 'output-available', output: chunk.output });
        break;
      case 'tool-output-error':
        finishTool(parts, tools.get(chunk.toolCallId), { state: 'output-error', errorText: chunk.errorText });
        break;
      default:
        if (isDataChunk(chunk)) putData(parts, chunk);
    }
  }
  return message;
}

type ToolResult =
  | { state: 'output-available'; output: unknown }
  | { state: 'output-error'; errorText: string };

function finishTool(parts: Parts, call: DynamicToolUIPart | undefined, result: ToolResult): void {
  if (!call) return;
  const { type, toolName, toolCallId, input } = call;
  parts[parts.indexOf(call)] = { type, toolName, toolCallId, input, ...result };
}

type DataChunk = Extract<UIMessageChunk, { type: `data-${string}` }>;

function isDataChunk(chunk: UIMessageChunk): chunk is DataChunk {
  return chunk.type.startsWith('data-');
}

/** The same type and id replaces earlier data. */
function putData(parts: Parts, { type, id, data }: DataChunk): void {
  const known =
    id === undefined ? undefined : parts.find((part) => part.type === type && 'id' in part && part.id === id);
  if (known && 'data' in known) known.data = data;
  else parts.push({ type, data, ...(id !== undefined && { id }) });
}

/** Null if the turn produced nothing. */
export function toTurnMessage(log: LogEntry[], reader: Reader): UIMessage | null {
  // Streams end here, even if later entries follow.
  const end = log.findIndex(({ event }) => event.type === 'turn-ended');
  const seen = end === -1 ? log : log.slice(0, end + 1);
  const message = foldMessage(seen.flatMap(createTranslator({ ...reader, resets: true })));
  return message.parts.length > 0 ? message : null;
}
