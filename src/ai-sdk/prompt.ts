/** The prompt of a call, as a message to an agent and what was said before it. Pure. */
import { InvalidPromptError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { EarlierMessage } from '../client/new-message.ts';
import type { Call } from './call.ts';

type Message = Call['prompt'][number];

export interface Said {
  /** Oldest first. */
  earlier: EarlierMessage[];
  text: string;
}

/** Text only. Tools are the agent's own, so that calls and results of others are left out. */
export function fromPrompt({ prompt }: Pick<Call, 'prompt'>, isStored: boolean): Said {
  const invalid = (message: string) => new InvalidPromptError({ prompt: undefined, message });
  const last = prompt.at(-1);
  if (last?.role !== 'user')
    throw invalid('the last message has to be the user’s, because the agent answers it.');
  const text = textOf(last);
  if (text === '') throw invalid('the last message has no text.');
  return { text, earlier: isStored ? [] : prompt.slice(0, -1).flatMap(toEarlier) };
}

function toEarlier(message: Message): EarlierMessage[] {
  const { role } = message;
  const text = textOf(message);
  return role === 'tool' || text === '' ? [] : [{ role, text }];
}

function textOf({ role, content }: Message): string {
  if (role === 'system') return content.trim() === '' ? '' : content;
  const texts: string[] = [];
  for (const part of content) {
    if (part.type === 'file') {
      const message = `Files are not supported: leave the ${part.mediaType} out, or put what it says into the text.`;
      throw new UnsupportedFunctionalityError({ functionality: 'files', message });
    }
    if (part.type === 'text' && part.text.trim() !== '') texts.push(part.text);
  }
  return texts.join('\n\n');
}
