/**
 * A tool's result as it is stored for clients: every content block unchanged, up to a limit. A block that does not fit is
 * replaced by a line that names it, so that the rest is not taken for the whole. Pure.
 */
import { fileInWords, readContent } from './tool-content.ts';
import type { McpContent, McpResult } from './tool-content.ts';

/** The largest stored result, in characters of JSON: it is sent to every reader, again with every replay. */
export const keptLimit = 4 * 1024 * 1024;

/** How many omitted blocks are named one by one; the rest is one line. */
const mostNotes = 20;

export function toKeptOutput(result: McpResult): McpResult {
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
