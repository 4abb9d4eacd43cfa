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
export function textOf(message: Pick<Message, 'parts'>): string | null {
  const brought = broughtBy(message);
  return brought === null || brought === 'address' || brought.files.length > 0 ? null : brought.text;
}

/** What a message brings: all its text, with data parts as JSON, and the bytes of its files by their place. */
interface Brought {
  text: string;
  files: { bytes: Uint8Array; at: number }[];
}

/** A file that only has an address is none that is brought. */
export function broughtBy({ parts }: Pick<Message, 'parts'>): Brought | 'address' | null {
  const texts: string[] = [];
  const files: Brought['files'] = [];
  for (const [at, { content }] of parts.entries()) {
    switch (content?.$case) {
      case 'text':
        texts.push(content.value);
        break;
      case 'data':
        texts.push(JSON.stringify(content.value));
        break;
      case 'raw':
        files.push({ bytes: content.value, at });
        break;
      case 'url':
        return 'address';
      default:
        return null;
    }
  }
  return { text: texts.join('\n').trim(), files };
}
