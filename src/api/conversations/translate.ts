/** Stored conversations, as clients read them. Pure. */
import type { TextPart, UIMessage } from 'ai';
import { imageInWords, isImagePart } from '../../turn/image-part.ts';
import type { ImagePart } from '../../turn/image-part.ts';
import { isPageContext } from '../../turn/page-context.ts';
import type { ReadConversation, ReadTurn } from '../../service/read-conversations.ts';
import type { Reader } from '../http/request-headers.ts';
import { toTurnMessage } from '../ui-message/turn-message.ts';

export function toConversation(row: ReadConversation['conversation'], liveTurn: string | null) {
  return {
    id: row.conversation,
    agent: row.agent,
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(row.updatedAt),
    turn: liveTurn === null ? null : { turnId: liveTurn, status: 'running' as const },
  };
}

/** The live turn's own message is left out: its stream replays it, and must not find it there already. */
export function toMessages(turns: ReadTurn[], reader: Reader): UIMessage[] {
  return turns.flatMap(({ given, log }) => {
    const message = log && toTurnMessage(log, reader);
    return [...given.map(toGivenMessage), ...(message ? [message] : [])];
  });
}

function toGivenMessage({ id, role, content }: ReadTurn['given'][number]): UIMessage {
  const parts =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content as (TextPart | ImagePart)[]);
  return {
    // Clients post a conversation's messages again: an id of ours has to look like one of theirs.
    id: id.replaceAll('/', ':'),
    role: role === 'assistant' ? 'assistant' : 'user',
    parts: parts.map((part) => {
      if (isImagePart(part)) return toUiPart(part);
      return isPageContext(part)
        ? { type: 'data-page-context' as const, data: { text: part.text } }
        : (part as UIMessage['parts'][number]);
    }),
  };
}

/** What a client sent, it gets back; in words, where there is too much for one answer. */
function toUiPart(image: ImagePart): UIMessage['parts'][number] {
  const { mediaType, data } = image;
  if (data === undefined) return { type: 'text', text: `[${imageInWords(image)}]` };
  return { type: 'file', mediaType, url: `data:${mediaType};base64,${data}` };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
