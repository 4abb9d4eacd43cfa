/**
 * A tool's result as the model reads it.
 *
 * Models are given text, images of the types that all providers accept, and PDF files, each with the type that its bytes
 * show. Any other file is named in a line of text: a provider that is sent a file it cannot read rejects the whole
 * conversation from then on. What exceeds the limits is left out, with a line that says so. Pure.
 */
import { readFileContent } from './file-content.ts';
import { fileInWords, readContent } from './tool-content.ts';
import type { Content, McpContent, McpResult } from './tool-content.ts';

/** `characters`: of all texts of a result. `fileCharacters`: of one file in base64; providers refuse more. */
export const modelLimits = { characters: 100_000, fileCharacters: 5 * 1024 * 1024, files: 10 };

const readable = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf']);

type Block =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } };

/** `output` of an AI SDK `tool-result`. `remark`: a text of ours after the tool's, never cut. */
export function toModelOutput(result: McpResult, remark?: string): unknown {
  const fitted = withinLimits(toBlocks(result));
  const blocks = remark === undefined ? fitted : [...fitted, { type: 'text' as const, text: remark }];
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : null));
  if (result.isError === true) return { type: 'error-text', value: withRemark(errorText(result), remark) };
  // Providers that only know text in a result take `text` as it is, and would show `content` as JSON.
  if (blocks.length > 0 && !texts.includes(null)) return { type: 'text', value: texts.join('\n') };
  return blocks.length > 0 ? { type: 'content', value: blocks } : { type: 'json', value: null };
}

export function withRemark(text: string, remark: string | undefined): string {
  return remark === undefined ? text : `${text}\n${remark}`;
}

/** The tool's own description of its error; for models and people. */
export function errorText(result: McpResult): string {
  const texts = withinLimits(toBlocks(result)).flatMap((block) =>
    block.type === 'text' ? [block.text] : [],
  );
  return texts.join('\n') || 'The tool reported an error without a description.';
}

/** MCP servers describe `structuredContent` in text as well; it is only used for a result without any text. */
function toBlocks({ content = [], structuredContent }: McpResult): Block[] {
  const blocks = content.map(toBlock).filter((block) => block.type !== 'text' || block.text !== '');
  const hasText = structuredContent === undefined || content.some(saysSomething);
  return hasText ? blocks : [...blocks, { type: 'text', text: JSON.stringify(structuredContent) }];
}

/** The line in place of a file says nothing of the rest. */
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
