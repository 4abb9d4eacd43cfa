import type { UIMessage } from 'ai';
import type { LogEntry } from '../../turn/event.ts';
import type { Reader } from '../http/request-headers.ts';
import { foldMessage } from './fold.ts';
import { createTranslator } from './translate.ts';

/** What somebody has on the screen who came late and read a turn's whole stream; null when it said nothing at all. */
export function toTurnMessage(log: LogEntry[], reader: Reader): UIMessage | null {
  // Streams end here, whatever is still written behind it.
  const end = log.findIndex(({ event }) => event.type === 'turn-ended');
  const seen = end === -1 ? log : log.slice(0, end + 1);
  const message = foldMessage(seen.flatMap(createTranslator({ ...reader, resets: true })));
  return message.parts.length > 0 ? message : null;
}
