/** The prompt of a call, as a message to an agent and what was said before it. Pure. */
import { InvalidPromptError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { EarlierMessage } from '../client/new-message.ts';
import type { Call } from './call.ts';

type Message = Call['prompt'][number];

export interface Said {
  /** Oldest first. */
  earlier: EarlierMessage[];
  text: string;
  /** As data: URLs; absent when there are none. */
  images?: string[];
}

/** Text and images. Tools are the agent's own, so that calls and results of others are left out. */
export function fromPrompt({ prompt }: Pick<Call, 'prompt'>, isStored: boolean): Said {
  const invalid = (message: string) => new InvalidPromptError({ prompt: undefined, message });
  const last = prompt.at(-1);
  if (last?.role !== 'user')
    throw invalid('the last message has to be the user’s, because the agent answers it.');
  const said = saidIn(last);
  if (isEmpty(said)) throw invalid('the last message has no text and no image.');
  return { ...said, earlier: isStored ? [] : prompt.slice(0, -1).flatMap(toEarlier) };
}

function toEarlier(message: Message): EarlierMessage[] {
  const { role } = message;
  const said = saidIn(message);
  return role === 'tool' || isEmpty(said) ? [] : [{ role, ...said }];
}

function isEmpty({ text, images }: Omit<Said, 'earlier'>): boolean {
  return text === '' && images === undefined;
}

function saidIn({ role, content }: Message): Omit<Said, 'earlier'> {
  if (role === 'system') return { text: content.trim() === '' ? '' : content };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part.type === 'file') images.push(imageOf(part, role));
    if (part.type === 'text' && part.text.trim() !== '') texts.push(part.text);
  }
  return { text: texts.join('\n\n'), ...(images.length > 0 && { images }) };
}

type FilePart = Extract<Message['content'][number], { type: 'file' }>;

/** Its bytes only: nothing is fetched. Which types are understood, the service says. */
function imageOf({ mediaType, data }: FilePart, role: Message['role']): string {
  const bytes = typeof data === 'object' && 'type' in data && data.type === 'data' ? data.data : data;
  const isImage = role === 'user' && (mediaType === 'image' || mediaType.startsWith('image/'));
  if (isImage && (typeof bytes === 'string' || bytes instanceof Uint8Array)) {
    const base64 = typeof bytes === 'string' ? bytes : toBase64(bytes);
    return `data:${mediaType};base64,${base64}`;
  }
  const message = `Of files, only images of the user are supported, as bytes and not as addresses: leave the ${mediaType} out, or put what it says into the text.`;
  throw new UnsupportedFunctionalityError({ functionality: 'files', message });
}

/** In whatever runs this, a browser included. */
function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
