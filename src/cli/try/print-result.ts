/** The result of a tool as text: every kind of content, in its order. */
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { plain } from '../chat/wording.ts';
import type { CallEnd } from '../../testing/call/call-events.ts';
import { toJsonText } from '../terminal-text.ts';

type Result = Extract<CallEnd, { kind: 'result' }>['result'];

export function resultText({ content, structuredContent }: Result): string {
  const blocks = content.map(blockText);
  // Tools repeat it as text, for clients that read nothing else.
  const isRepeated = blocks.some((text) => sameJson(text, structuredContent));
  if (structuredContent !== undefined && !isRepeated) blocks.push(toJsonText(structuredContent, 2));
  return blocks.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('');
}

function blockText(block: Result['content'][number]): string {
  switch (block.type) {
    case 'text':
      return plain(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}: ${plain(block.mimeType)}, ${sizeOf(block.data)}]`;
    case 'resource_link':
      return `[link: ${plain(block.title ?? block.name)} ${plain(block.uri)}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource: ${plain(resource.uri)}]\n${plain(resource.text)}`;
      return `[resource: ${plain(resource.uri)}, ${sizeOf(resource.blob)}]`;
    }
    default:
      // A kind that is newer than this client.
      return `[${plain(String((block as { type: unknown }).type))}]`;
  }
}

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} kB`;
}

function sameJson(text: string, value: unknown): boolean {
  if (!isRecord(value) && !Array.isArray(value)) return text === JSON.stringify(value);
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
