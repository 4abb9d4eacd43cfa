/** Builds and reads messages and their parts. Pure. */
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

/** All text of a message, with data parts as JSON. Null if it has other parts. */
export function textOf(message: Pick<Message, 'parts'>): string | null {
  const contents = contentsOf(message);
  return contents === null || contents === 'address' || contents.files.length > 0 ? null : contents.text;
}

/** All text of a message, with data parts as JSON, and its files with the index of their part. */
interface MessageContents {
  text: string;
  files: { bytes: Uint8Array; at: number }[];
}

/** 'address': one of the files is only an address. Null: a part of an unknown kind. */
export function contentsOf({ parts }: Pick<Message, 'parts'>): MessageContents | 'address' | null {
  const texts: string[] = [];
  const files: MessageContents['files'] = [];
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
