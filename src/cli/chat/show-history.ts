/** Prints the earlier messages of a conversation that is resumed. */
import type { ConversationMessages } from '../../contract/conversations.ts';
import type { Screen } from './screen.ts';
import { dim, plain, promptLabel } from './wording.ts';

export function showHistory({ messages }: ConversationMessages, who: string, screen: Screen): void {
  if (messages.next !== null) screen.line(dim('  What was said before that is not shown.'));
  for (const { role, parts } of messages.items) {
    const text = parts.flatMap(textOf).join('\n\n').trim();
    if (text === '') continue;
    screen.gap();
    if (role === 'user') screen.line(`${promptLabel(who)}${plain(text)}`);
    else screen.text(text);
    screen.gap();
  }
}

function textOf(part: ConversationMessages['messages']['items'][number]['parts'][number]): string[] {
  const { type, text } = part;
  return type === 'text' && typeof text === 'string' ? [text] : [];
}
