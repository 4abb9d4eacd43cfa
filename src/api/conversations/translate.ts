/** Stored conversations and log entries, as clients read them. Pure. */
import type { TextPart, UIMessage } from 'ai';
import type { ConversationRow, StoredMessage, ToldTurn } from '../../storage/storage.ts';
import type { LogEntry } from '../../turn/event.ts';
import { operationId, operationOf } from '../../turn/operations.ts';
import { isPageContext } from '../../turn/page-context.ts';
import type { Reader } from '../request-headers.ts';
import { toTurnMessage } from '../ui-message/turn-message.ts';

export function toConversation(row: ConversationRow, liveTurn: string | null) {
  return {
    id: row.conversation,
    agent: row.agent,
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(row.updatedAt),
    turn: liveTurn === null ? null : { turnId: liveTurn, status: 'running' as const },
  };
}

export type TurnToTell = Pick<ToldTurn, 'turnId' | 'given' | 'log'>;

/** The live turn's own message is left out: its stream replays it, and must not find it there already. */
export function toMessages(turns: TurnToTell[], reader: Reader): UIMessage[] {
  return turns.flatMap(({ given, log }) => {
    const message = log && toTurnMessage(log, reader);
    return [...given.map(toGivenMessage), ...(message ? [message] : [])];
  });
}

function toGivenMessage({ id, role, content }: StoredMessage): UIMessage {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as TextPart[]);
  return {
    // Clients post a conversation's messages again: an id of ours has to look like one of theirs.
    id: id.replaceAll('/', ':'),
    role: role === 'assistant' ? 'assistant' : 'user',
    parts: parts.map((part) =>
      isPageContext(part)
        ? { type: 'data-page-context' as const, data: { text: part.text } }
        : (part as UIMessage['parts'][number]),
    ),
  };
}

/** Of the neutral feed, `agent` being the conversation's; with `operations`, each before the entry that it describes. */
export function toEventText(entry: LogEntry, agent: string, operations: boolean): string {
  const { seq, turnId, event } = entry;
  const at = toTime(entry.at);
  const text = `id: ${seq}\ndata: ${JSON.stringify({ ...event, turnId, at })}\n\n`;
  const operation = operations ? operationOf(entry, agent) : null;
  if (!operation) return text;
  const { path, parentToolCallId } = event;
  const said = {
    type: 'data-operation',
    id: operationId(entry),
    data: operation,
    turnId,
    at,
    ...(path && { path }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  };
  // Under no id of its own: whoever is cut off in between is told again instead of never being told the event.
  return `data: ${JSON.stringify(said)}\n\n${text}`;
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
