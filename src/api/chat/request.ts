/** What `useChat` posts, as a request for a turn. Pure. */
import type { ChatRequest } from '../../contract/chat.ts';
import { invalidRequest } from '../errors.ts';
import type { GivenMessage } from '../start-turn.ts';

type Message = ChatRequest['messages'][number];

/** The conversation as far as it is text, ending in the new user message; a 400 that points at what keeps it from being one. */
export function givenMessages({ id, messages, trigger }: ChatRequest): GivenMessage[] {
  const last = messages.length - 1;
  // With a conversation, everything before the last message is in it already.
  const history = id === undefined ? messages.slice(0, last).flatMap(toHistory) : [];
  const asked = newMessage(messages[last], `/messages/${last}`);
  // Asking again is a message of its own: under its old id it would join the turn that it wants to repeat.
  return [...history, trigger === 'regenerate-message' ? { ...asked, id: undefined } : asked];
}

function newMessage(message: Message | undefined, at: string): GivenMessage {
  if (message?.role !== 'user')
    throw invalidRequest([{ pointer: `${at}/role`, detail: "the last message has to be the user's" }]);
  const file = message.parts.findIndex(({ type }) => type === 'file');
  if (file !== -1) {
    throw invalidRequest([
      { pointer: `${at}/parts/${file}`, detail: 'files are not supported yet; send text' },
    ]);
  }
  const content = textOf(message);
  if (content.length === 0)
    throw invalidRequest([{ pointer: `${at}/parts`, detail: 'the message has no text' }]);
  return { id: message.id, role: 'user', content };
}

/** What a client says in the system's name has the authority of its user: the agent has its own instructions. */
function toHistory(message: Message): GivenMessage[] {
  const content = textOf(message);
  return content.length === 0 ? [] : [{ role: message.role === 'assistant' ? 'assistant' : 'user', content }];
}

function textOf({ parts }: Message): GivenMessage['content'] {
  return parts.flatMap((given) => {
    const text = given.type === 'text' ? given['text'] : undefined;
    return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text' as const, text }] : [];
  });
}
