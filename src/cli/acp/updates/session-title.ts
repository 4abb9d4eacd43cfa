/** The title of a session: the user's first words. Pure. */
import type { ConversationMessages } from '../../../contract/conversations.ts';

type UiMessage = ConversationMessages['messages']['items'][number];

const longest = 80;

export function titleOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longest);
}

/** `messages`: oldest first. Undefined while the user has sent no text. */
export function titleFrom(messages: readonly UiMessage[]): string | undefined {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.map(({ text }) => (typeof text === 'string' ? titleOf(text) : '')));
  return texts.find((title) => title !== '');
}
