/** Messages and their parts, made and read. Pure. */
import type { Message, Part } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';

type Ids = { taskId: string; contextId: string };

export function textPart(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    mediaType: 'text/plain',
    filename: '',
    metadata: undefined,
  };
}

export function dataPart(data: Record<string, unknown>): Part {
  return {
    content: { $case: 'data', value: data },
    mediaType: 'application/json',
    filename: '',
    metadata: undefined,
  };
}

export function agentMessage(ids: Ids, messageId: string, parts: Part[]): Message {
  return { ...ids, messageId, role: Role.ROLE_AGENT, parts, ...nothingElse };
}

export function userMessage(ids: Ids, messageId: string, parts: Part[]): Message {
  return { ...ids, messageId, role: Role.ROLE_USER, parts, ...nothingElse };
}

const nothingElse = { metadata: undefined, extensions: [], referenceTaskIds: [] };

/** All text of a message; data parts as JSON. Null when it has parts that are neither. */
export function textOf({ parts }: Pick<Message, 'parts'>): string | null {
  const texts: string[] = [];
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') texts.push(JSON.stringify(content.value));
    else return null;
  }
  return texts.join('\n').trim();
}

/** Of a stored message: its text parts, or a text. */
export function storedParts(content: unknown): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const isText = typeof part === 'object' && part !== null && 'text' in part;
    return isText && typeof part.text === 'string' ? [textPart(part.text)] : [];
  });
}
