/**
 * Rows of the log and the transcript contain codes instead of our own sentences about tool calls. Reading a row checks its code and
 * adds the sentence for the model. A row of an older release contains the sentence itself.
 */
import { callFailureSchema, callRemarkSchema, missingAccountSchema } from '../../turn/call-failure.ts';
import type { TurnEvent } from '../../turn/event.ts';
import { failureForModel } from '../../turn/for-model.ts';
import { missingAccountInWords, turnFailureInWords } from '../../turn/for-person.ts';
import { partForModel } from '../../turn/tool-result.ts';
import { codedFailureSchema } from '../../turn/turn-failure.ts';
import type { StoredResultPart } from '../../turn/tool-result.ts';
import { fromJson } from '../schema.ts';

/** For codes of a newer release. */
const unreadable = 'The call did not succeed, and this version of the service does not know why.';
const unreadableEnd = 'The turn failed, and this version of the service does not know why.';

export function eventToRow(event: TurnEvent): string {
  if (event.type === 'tool-auth-required' && event.account)
    return JSON.stringify({ ...event, message: undefined });
  if (!('failure' in event) || event.failure === undefined) return JSON.stringify(event);
  return JSON.stringify({ ...event, errorText: undefined });
}

export function eventFromRow(row: string): TurnEvent {
  const event = fromJson<TurnEvent>(row);
  if (event.type === 'tool-auth-required' && event.account) {
    const { type, toolCallId, toolName, server, serverTitle, account: given, ...rest } = event;
    const { data: account } = missingAccountSchema.safeParse(given);
    const named = { type, toolCallId, toolName, server, serverTitle };
    const notice = { serverTitle, account: account ?? { code: 'account' as const }, url: rest.url };
    const said = { message: missingAccountInWords(notice), ...(account && { account }) };
    return { ...named, ...said, ...rest };
  }
  if (!('failure' in event)) return event;
  if (event.type === 'error') {
    const { type, code, failure: given, ...rest } = event;
    const read = codedFailureSchema.safeParse(given);
    const said = read.success
      ? { errorText: turnFailureInWords(read.data), failure: read.data }
      : { errorText: unreadableEnd };
    return { type, code, ...said, ...rest };
  }
  const { type, toolCallId, toolName, failure: given, ...rest } = event;
  const read = callFailureSchema.safeParse(given);
  const said = read.success
    ? { errorText: failureForModel(read.data), failure: read.data }
    : { errorText: unreadable };
  return { type, toolCallId, toolName, ...said, ...rest };
}

/** Of any message. */
export function contentFromRow(row: string): unknown {
  const content = fromJson<unknown>(row);
  return Array.isArray(content) ? content.map(partFromRow) : content;
}

function partFromRow(part: { type?: unknown }): unknown {
  if (part.type !== 'tool-result') return part;
  const { output, remark, ...rest } = part as StoredResultPart;
  const checked = remark && callRemarkSchema.safeParse(remark).data;
  if (output.type !== 'call-failure') return partForModel({ ...rest, output, remark: checked });
  const read = callFailureSchema.safeParse(output.failure);
  const known = read.success
    ? { type: 'call-failure' as const, failure: read.data }
    : { type: 'error-text' as const, value: unreadable };
  return partForModel({ ...rest, output: known, remark: checked });
}
