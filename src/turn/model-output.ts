/**
 * What a tool gave back, as the model reads it.
 *
 * Models are given texts, pictures of the kinds that all of them know, and PDF files. Anything else is named in a line,
 * because a provider that is handed a file it does not know refuses the whole conversation, from then on. What does not
 * fit is left out and said to be. Pure.
 */
import { fileInWords, readContent } from './tool-content.ts';
import type { Content, McpContent, McpResult } from './tool-content.ts';

/** `characters`: of all texts of a result. `fileCharacters`: of one file in base64; more is refused by providers. */
export const modelLimits = { characters: 100_000, fileCharacters: 5 * 1024 * 1024, files: 10 };

const readable = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf']);

type Block =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } };

/** `output` of an AI SDK `tool-result`. `remark`: ours, never cut. */
export function toModelOutput(result: McpResult, remark?: string): unknown {
  const said = fitting(toBlocks(result));
  const blocks = remark === undefined ? said : [...said, { type: 'text' as const, text: remark }];
  const words = blocks.map((block) => (block.type === 'text' ? block.text : null));
  if (result.isError === true) return { type: 'error-text', value: withRemark(errorText(result), remark) };
  // Providers that know nothing but text in a result take this as it is, and a list of blocks as JSON.
  if (blocks.length > 0 && !words.includes(null)) return { type: 'text', value: words.join('\n') };
  return blocks.length > 0 ? { type: 'content', value: blocks } : { type: 'json', value: null };
}

export function withRemark(words: string, remark: string | undefined): string {
  return remark === undefined ? words : `${words}\n${remark}`;
}

/** What went wrong, in the tool's words; also for people. */
export function errorText(result: McpResult): string {
  const words = fitting(toBlocks(result)).flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return words.join('\n') || 'The tool reported an error without a description.';
}

/**
 * The text of a result is the author's own account of its data, so that the data themselves are for those who have no
 * text to read.
 */
function toBlocks({ content = [], structuredContent }: McpResult): Block[] {
  const blocks = content.map(toBlock).filter((block) => block.type !== 'text' || block.text !== '');
  const isTold = structuredContent === undefined || blocks.some(({ type }) => type === 'text');
  return isTold ? blocks : [...blocks, { type: 'text', text: JSON.stringify(structuredContent) }];
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
  const { mediaType, data } = file;
  if (!readable.has(mediaType)) return leftOut(file, 'a kind of file that models cannot read');
  if (data.length > modelLimits.fileCharacters) return leftOut(file, 'too large for a model to read');
  return { type: 'file', mediaType, data: { type: 'data', data } };
}

function leftOut(file: Extract<Content, { kind: 'file' }>, reason: string): Block {
  return { type: 'text', text: `[${fileInWords(file)}: ${reason}; the user's client has it]` };
}

function fitting(blocks: Block[]): Block[] {
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
