/** The name of a session: the words that it began with. Pure. */
import type { ConversationMessages } from '../../../contract/conversations.ts';

type UiMessage = ConversationMessages['messages']['items'][number];

const longest = 80;

export function titleOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longest);
}

/** Of what was said, oldest first; undefined where nobody has said anything in words. */
export function titleFrom(messages: readonly UiMessage[]): string | undefined {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.map(({ text }) => (typeof text === 'string' ? titleOf(text) : '')));
  return texts.find((title) => title !== '');
}
