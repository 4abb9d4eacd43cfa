/** The contents of messages: results of tools, and what users sent. Pure. */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { isImagePart, saidTexts, imagesIn } from '../../turn/message-parts.ts';
import { fileInWords, readContent } from '../../turn/tool-content.ts';
import type { Content, McpContent } from '../../turn/tool-content.ts';

type ContentPart =
  | { type: 'text'; text: string }
  | {
      type: 'image' | 'audio' | 'video' | 'document';
      source: { type: 'data'; value: string; mimeType: string };
    };

/** Text, or parts if there is a file. `isOld`: the client reads only text. */
export function toResultContent(output: unknown, { isOld }: { isOld: boolean }): string | ContentPart[] {
  if (!isRecord(output)) return JSON.stringify(output ?? null);
  const { content, structuredContent } = output;
  const blocks = Array.isArray(content) ? (content as McpContent[]) : [];
  const parts = blocks.map((block) => toPart(readContent(block), block, isOld));
  const hasText = parts.some((part) => part.type === 'text' && part.text !== '');
  if (!hasText && structuredContent !== undefined)
    parts.push({ type: 'text', text: JSON.stringify(structuredContent) });
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n') : parts;
}

function toPart(content: Content, block: McpContent, isOld: boolean): ContentPart {
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: content.text };
    case 'document':
      return { type: 'text', text: content.uri === '' ? content.text : `${content.uri}:\n${content.text}` };
    case 'link':
      return { type: 'text', text: content.words };
    case 'unknown':
      return { type: 'text', text: JSON.stringify(block) };
    case 'file': {
      if (isOld) return { type: 'text', text: `[${fileInWords(content)}]` };
      const { data: value, mediaType: mimeType } = content;
      const [kind] = mimeType.split('/', 1);
      const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
      return { type, source: { type: 'data', value, mimeType } };
    }
    default:
      return content satisfies never;
  }
}

/** A stored message of a user. An image whose bytes are not there is described. */
export function toUserContent(content: unknown): string | ContentPart[] {
  const withBytes = imagesIn(content).filter(({ data }) => data !== undefined);
  const rest = Array.isArray(content)
    ? content.filter((part) => !isImagePart(part) || part.data === undefined)
    : content;
  const text = saidTexts(rest).join('\n');
  if (withBytes.length === 0) return text;
  const images = withBytes.map(({ data = '', mediaType }): ContentPart => {
    return { type: 'image', source: { type: 'data', value: data, mimeType: mediaType } };
  });
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...images];
}
