/** Log entries as server-sent events of the neutral feed. Pure. */
import type { LogEntry } from '../../turn/event.ts';
import { operationId, operationOf } from '../../turn/operations.ts';

/** `agent` is the conversation's; with `operations`, each stands before the entry that it describes. */
export function toEventText(entry: LogEntry, agent: string, operations: boolean): string {
  const { seq, turnId, event } = entry;
  const at = new Date(entry.at).toISOString();
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
