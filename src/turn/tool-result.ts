/**
 * The result of a tool call as it is stored: a `tool` message for the model and an event for the log. Pure.
 *
 * Models get text, images of the types that all providers accept, and PDF files, each with the type that its bytes show. Any
 * other file is replaced by a line of text: a provider that gets a file it cannot read rejects the whole conversation from
 * then on. What exceeds the limits is left out, with a line that says so.
 *
 * Clients get every content block unchanged, up to a limit. A block that does not fit is replaced by a line that names it.
 */
import type { CallFailure, CallRemark } from './call-failure.ts';
import type { ToolOutcome, TurnEvent } from './event.ts';
import { failureForModel, remarkForModel } from './for-model.ts';
import { imageTypes } from '@interlude-ai/core/images.ts';
import { fileInWords, readContent, readFileContent } from './tool-content.ts';
import type { Content, McpContent, McpResult } from './tool-content.ts';

export type ToolResult = (
  | { kind: 'output'; output: McpResult }
  /** A text for the model instead of a result, of a tool's code or a server. */
  | { kind: 'error'; text: string }
  /** The service says why there is no result. */
  | { kind: 'failed'; failure: CallFailure }
) & {
  remark?: CallRemark | undefined;
};

interface Call {
  toolCallId: string;
  toolName: string;
}

/** `ofError`: the outcome of a call without a result of its tool. */
export function outcomeOf(result: ToolResult, ofError: ToolOutcome): ToolOutcome {
  if (result.kind !== 'output') return ofError;
  return result.output.isError === true ? 'tool_error' : 'ok';
}

/** `ofError` as in `outcomeOf`. */
export function toEvent(call: Call, result: ToolResult, ofError: ToolOutcome = 'failed'): TurnEvent {
  const { toolCallId, toolName } = call;
  const failed = { type: 'tool-output-error', toolCallId, toolName } as const;
  const outcome = outcomeOf(result, ofError);
  if (result.kind === 'error') return { ...failed, errorText: result.text, outcome };
  if (result.kind === 'failed') {
    const { failure } = result;
    return { ...failed, errorText: failureForModel(failure), failure, outcome };
  }
  const { output } = result;
  if (output.isError === true) return { ...failed, errorText: errorText(output), outcome };
  return { type: 'tool-output-available', toolCallId, toolName, output: toKeptOutput(output) };
}

/** What is stored instead of an AI SDK `output` for a call that the service failed. */
interface StoredFailure {
  type: 'call-failure';
  failure: CallFailure;
}

/** The stored content of a `tool` message: that of the AI SDK, with codes instead of our own sentences. */
export function toMessageContent(call: Call, result: ToolResult): unknown {
  const { toolCallId, toolName } = call;
  const { remark } = result;
  return [
    { type: 'tool-result', toolCallId, toolName, output: toStoredOutput(result), ...(remark && { remark }) },
  ];
}

function toStoredOutput(result: ToolResult): unknown {
  switch (result.kind) {
    case 'output':
      return toModelOutput(result.output);
    case 'error':
      return { type: 'error-text', value: result.text };
    case 'failed':
      return { type: 'call-failure', failure: result.failure } satisfies StoredFailure;
    default:
      return result satisfies never;
  }
}

/** A part of such a content as the model reads it. */
export function partForModel({ output, remark, ...part }: StoredResultPart) {
  const said: Output =
    output.type === 'call-failure' ? { type: 'error-text', value: failureForModel(output.failure) } : output;
  return { ...part, output: remark ? withRemark(said, remarkForModel(remark)) : said };
}

export interface StoredResultPart {
  type: 'tool-result';
  output: StoredFailure | Output;
  remark?: CallRemark | undefined;
}

type Output =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: unknown[] }
  | { type: 'json'; value: unknown };

function withRemark(output: Output, text: string): Output {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { type: output.type, value: `${output.value}\n${text}` };
    case 'content':
      return { type: 'content', value: [...output.value, { type: 'text', text }] };
    case 'json':
      return { type: 'text', value: text };
    default:
      return output satisfies never;
  }
}

/** `characters`: of all texts of a result. `fileCharacters`: of one file in base64; providers refuse larger ones. */
export const modelLimits = { characters: 100_000, fileCharacters: 5 * 1024 * 1024, files: 10 };

const readable = new Set<string>([...imageTypes, 'application/pdf']);

type Block =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } };

/** `output` of an AI SDK `tool-result`. */
function toModelOutput(result: McpResult): Output {
  const blocks = withinLimits(toBlocks(result));
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : null));
  if (result.isError === true) return { type: 'error-text', value: errorText(result) };
  // Providers that only support text in a result pass `text` on as it is, and would turn `content` into JSON.
  if (blocks.length > 0 && !texts.includes(null)) return { type: 'text', value: texts.join('\n') };
  return blocks.length > 0 ? { type: 'content', value: blocks } : { type: 'json', value: null };
}

/** The tool's own description of its error; for models and people. */
function errorText(result: McpResult): string {
  const texts = withinLimits(toBlocks(result)).flatMap((block) =>
    block.type === 'text' ? [block.text] : [],
  );
  return texts.join('\n') || 'The tool reported an error without a description.';
}

/** MCP servers repeat `structuredContent` in text, so it is only used if a result has no text. */
function toBlocks({ content = [], structuredContent }: McpResult): Block[] {
  const blocks = content.map(toBlock).filter((block) => block.type !== 'text' || block.text !== '');
  const hasText = structuredContent === undefined || content.some(saysSomething);
  return hasText ? blocks : [...blocks, { type: 'text', text: JSON.stringify(structuredContent) }];
}

/** A file says nothing about the structured content. */
function saysSomething(block: McpContent): boolean {
  const content = readContent(block);
  return content.kind === 'text' ? content.text !== '' : content.kind !== 'file';
}

function toBlock(block: McpContent): Block {
  const content = readContent(block);
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: content.text };
    case 'document':
      return { type: 'text', text: content.uri === '' ? content.text : `${content.uri}:\n${content.text}` };
    case 'file':
      return toFileBlock(content);
    case 'link':
      return { type: 'text', text: content.words };
    case 'unknown':
      return { type: 'text', text: JSON.stringify(block) };
    default:
      return content satisfies never;
  }
}

function toFileBlock(file: Extract<Content, { kind: 'file' }>): Block {
  if (file.data.length > modelLimits.fileCharacters) return leftOut(file, 'too large for a model to read');
  const content = readFileContent(file.data);
  if (content.kind === 'known') {
    const { mediaType, data } = content;
    return { type: 'file', mediaType, data: { type: 'data', data } };
  }
  return leftOut(
    file,
    readable.has(file.mediaType) ? `its content ${content.is}` : 'a kind of file that models cannot read',
  );
}

function leftOut(file: Extract<Content, { kind: 'file' }>, reason: string): Block {
  return { type: 'text', text: `[${fileInWords(file)}: ${reason}; the user's client has it]` };
}

/** Cuts the text and leaves files out that exceed `modelLimits`. */
function withinLimits(blocks: Block[]): Block[] {
  let room = modelLimits.characters;
  let files = 0;
  return blocks.flatMap((block): Block[] => {
    if (block.type === 'file') {
      if (++files <= modelLimits.files) return [block];
      return files === modelLimits.files + 1 ? [{ type: 'text', text: '[more files: left out]' }] : [];
    }
    if (room === 0) return [];
    const { text } = block;
    if (text.length <= room) {
      room -= text.length;
      return [block];
    }
    const kept = text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '');
    room = 0;
    return [{ type: 'text', text: `${kept}\n[cut here: too long to be read in whole]` }];
  });
}

/** The largest stored result, in characters of JSON: every reader gets it, again with every replay. */
export const keptLimit = 4 * 1024 * 1024;

/** How many omitted blocks are named one by one; one line replaces the others. */
const mostNotes = 20;

function toKeptOutput(result: McpResult): McpResult {
  if (JSON.stringify(result).length <= keptLimit) return result;
  const { content, structuredContent, isError } = result;
  let room = keptLimit;
  const fits = (value: unknown) => {
    const { length } = JSON.stringify(value);
    if (length > room) return false;
    room -= length;
    return true;
  };
  let notes = 0;
  const kept = content?.flatMap((block) => {
    if (fits(block)) return [block];
    if (++notes <= mostNotes) return [inWords(block)];
    return notes === mostNotes + 1 ? [note('more content')] : [];
  });
  const isDataKept = structuredContent === undefined || fits(structuredContent);
  return {
    content: [...(kept ?? []), ...(isDataKept ? [] : [note('structured content')])],
    ...(isDataKept && structuredContent !== undefined && { structuredContent }),
    ...(isError !== undefined && { isError }),
  };
}

function inWords(block: McpContent): McpContent {
  const content = readContent(block);
  if (content.kind === 'file') return note(fileInWords(content));
  return note(content.kind === 'unknown' ? `content of type "${block.type.slice(0, 64)}"` : 'text');
}

function note(what: string): McpContent {
  return { type: 'text', text: `[${what}: too large to be kept]`, _meta: { 'interlude/leftOut': true } };
}
