/** What a tool gave back, as content that an editor shows. ACP's blocks are MCP's, so those of a server pass as they are. Pure. */
import type { ContentBlock, ToolCallContent } from '@agentclientprotocol/sdk';
import { isRecord } from '../../../client/interlude-error.ts';
import { plainText } from '../../../elicitation/plain-text.ts';

export function textContent(text: string): ToolCallContent[] {
  return text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }];
}

export function outputContent(output: unknown): ToolCallContent[] {
  if (output === undefined || output === null) return [];
  if (typeof output === 'string') return textContent(plainText(output));
  const blocks = isRecord(output) && Array.isArray(output['content']) ? output['content'].map(toBlock) : [];
  const shown = blocks.filter((block) => block !== null);
  if (shown.length > 0) return shown.map((content) => ({ type: 'content', content }));
  return textContent(inCode(JSON.stringify(output, null, 2), 'json'));
}

/** A fence that the text itself cannot close. */
export function inCode(text: string, language: string): string {
  const runs = Array.from(text.matchAll(/`+/g), ([run]) => run.length);
  const fence = '`'.repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Null: of a type that ACP does not have, or malformed. */
function toBlock(block: unknown): ContentBlock | null {
  if (!isRecord(block)) return null;
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? { type: 'text', text: plainText(block['text']) } : null;
    case 'image':
    case 'audio':
      return isText(block, 'data') && isText(block, 'mimeType')
        ? { type: block['type'], data: block['data'], mimeType: block['mimeType'] }
        : null;
    case 'resource_link':
      return isText(block, 'uri') ? { type: 'resource_link', uri: block['uri'], name: nameOf(block) } : null;
    case 'resource':
      return toResource(block['resource']);
    default:
      return null;
  }
}

function toResource(resource: unknown): ContentBlock | null {
  if (!isRecord(resource) || !isText(resource, 'uri')) return null;
  const { uri } = resource;
  const mimeType = isText(resource, 'mimeType') ? { mimeType: resource['mimeType'] } : {};
  if (isText(resource, 'text'))
    return { type: 'resource', resource: { uri, ...mimeType, text: plainText(resource['text']) } };
  return isText(resource, 'blob')
    ? { type: 'resource', resource: { uri, ...mimeType, blob: resource['blob'] } }
    : null;
}

function nameOf(link: Record<string, unknown>): string {
  const names = [link['title'], link['name'], link['uri']];
  return plainText(String(names.find((name) => typeof name === 'string' && name !== '')));
}

function isText<Name extends string>(
  value: Record<string, unknown>,
  name: Name,
): value is Record<string, unknown> & Record<Name, string> {
  return typeof value[name] === 'string';
}
