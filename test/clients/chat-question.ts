import type { UIMessage } from 'ai';
import type { ChatClient } from './chat-client.ts';

type Part = UIMessage['parts'][number];

export interface Question {
  elicitationId: string;
  status: string;
  url: string;
}

const questionIn = (part: Part) =>
  part.type === 'data-elicitation-request' ? (part.data as Question) : null;

/** The question on the client's screen, in this state. */
export async function question(chat: ChatClient, status: string): Promise<Question> {
  await chat.until((part) => questionIn(part)?.status === status);
  const [found, ...others] = chat.parts().flatMap((part) => questionIn(part) ?? []);
  if (!found || others.length > 0) throw new Error('there is one question, and it was there a moment ago');
  return found;
}
