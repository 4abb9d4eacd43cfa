/**
 * Rows of the log and the transcript contain codes instead of our own sentences about tool calls. Reading a row checks its code and
 * adds the sentence for the model. A row of an older release contains the sentence itself.
 */
import { z } from 'zod';
import type { CallRemark } from '../../turn/call-failure.ts';
import type { TurnEvent } from '../../turn/event.ts';
import { failureForModel } from '../../turn/for-model.ts';
import { missingAccountInWords, turnFailureInWords } from '../../turn/for-person.ts';
import { partForModel } from '../../turn/tool-result.ts';
import { plainFailures } from '../../turn/turn-failure.ts';
import type { StoredResultPart } from '../../turn/tool-result.ts';
import { fromJson } from '../schema.ts';

const text = z.string();
const count = z.int();
const reasonSchema = z.enum(['missing', 'rejected', 'insufficient_scope', 'revoked']);
const closed = ['decline', 'cancel', 'expired'] as const;
const notAsked = ['unsupported', 'no-user', 'too-many-open', 'too-many-in-turn'] as const;

function coded<const Code extends string, Data extends z.ZodRawShape>(code: Code, data: Data) {
  return z.object({ code: z.literal(code), ...data });
}

const turnFailureSchema = z.discriminatedUnion('code', [
  coded('MaxStepsReached', { maxSteps: count, isDelegated: z.literal(true).optional() }),
  coded('UnknownAgent', { agent: text }),
  coded('ModelEmptyAnswer', { isOutOfRoom: z.literal(true).optional() }),
  z.object({ code: z.enum(plainFailures) }),
]);
const anyTurnFailureSchema = z.union([turnFailureSchema, z.object({ code: text, message: text })]);

function troubled<const Code extends string, Data extends z.ZodRawShape>(codes: readonly Code[], data: Data) {
  return z.object({ code: z.enum(codes), server: text, ...data });
}
const remedy = z.enum(['url', 'card']);

const troubleSchema = z.discriminatedUnion('code', [
  troubled(['cancelled', 'connection_ended', 'session_lost', 'busy', 'not_mcp', 'not_mcp_process'], {}),
  troubled(['no_endpoint', 'connection_broken', 'card_late', 'no_card_content', 'no_interface'], {}),
  troubled(['unreadable_answer', 'call_ended', 'task_unknown', 'task_cancelled', 'task_end_unknown'], {}),
  troubled(['other_host'], {}),
  troubled(['timeout', 'task_timeout', 'task_stopped', 'execute_timeout'], { seconds: z.number() }),
  troubled(['answer_too_large'], { megabytes: z.number() }),
  troubled(['unreadable_message'], { method: text }),
  troubled(['redirected', 'request_refused', 'failing', 'task_failing', 'no_messages', 'no_card'], {
    status: count,
  }),
  troubled(['not_listening', 'unknown_host', 'connect_timeout'], { remedy }),
  troubled(['not_reached'], { error: text, remedy }),
  troubled(['certificate', 'not_started'], { error: text }),
  troubled(['command_not_found', 'command_not_executable'], { command: text }),
  troubled(['no_folder'], { folder: text }),
  troubled(['user_not_permitted'], { uid: count }),
  troubled(['process_ended'], { how: text }),
  troubled(['header_unsendable'], { header: text, isTask: z.literal(true).optional() }),
  troubled(['other_era'], { era: text, status: count }),
  troubled(['era_learned'], { was: text, now: text }),
  troubled(['tools_not_listed', 'call_failed'], { error: z.number() }),
  troubled(['too_many_tools'], { tools: count, pages: count }),
  troubled(['call_refused', 'task_refused'], { words: text }),
]);

const failureSchema = z.discriminatedUnion('code', [
  coded('account', {
    why: z.enum([...closed, ...notAsked, 'still-refused']),
    server: text,
    address: text.optional(),
  }),
  coded('shared_account', {
    reason: reasonSchema,
    server: text,
    contact: text.optional(),
  }),
  coded('approval', {
    why: z.enum([...closed, ...notAsked]),
    tool: text,
    server: text.nullable(),
    reason: text.optional(),
  }),
  coded('approval_too_long', { tool: text, server: text.nullable() }),
  coded('not_as_approved', { server: text.nullable() }),
  coded('form', { why: z.enum([...closed, ...notAsked, 'limit-reached']), question: text }),
  coded('too_many_questions', { limitOf: z.enum(['user', 'turn']), server: text }),
  coded('too_many_held', { server: text }),
  coded('too_many_rounds', { what: z.enum(['rounds', 'same-page']), limit: count, server: text }),
  coded('page_not_opened', { why: z.enum(closed), server: text }),
  coded('unaskable', { why: text, server: text, isTask: z.literal(true).optional() }),
  coded('nobody_to_ask', {}),
  coded('ended_while_asking', { server: text }),
  coded('call_ended', {}),
  coded('not_allowed', { tool: text }),
  coded('no_server', { server: text }),
  coded('not_called', { server: text }),
  coded('account_unusable', { trouble: text, isOperators: z.boolean() }),
  coded('server_trouble', { trouble: troubleSchema, note: z.enum(['not_run', 'tried_before']).optional() }),
  coded('interrupted', { trouble: troubleSchema }),
  coded('unknown_outcome', { server: text, trouble: troubleSchema.optional() }),
  coded('tool_lost', { tool: text }),
  coded('tool_stuck', { tool: text }),
  coded('tool_not_run', { tool: text }),
  coded('no_answer', { agent: text, failure: anyTurnFailureSchema.optional() }),
  coded('empty_answer', { agent: text }),
  coded('no_tool', { tool: text, tools: z.array(text) }),
  coded('bad_arguments', { tool: text }),
  coded('tool_gone', { tool: text }),
  coded('form_refused', { why: text }),
  coded('no_task', { tool: text }),
  coded('not_handed_on', { why: z.enum(['too-often', 'too-many']), limit: count, agent: text }),
  coded('unfinished', {
    end: z.enum(['completed', 'failed', 'cancelled', 'superseded']),
    state: z.enum(['requested', 'started', 'paused', 'finished', 'delegated']),
  }),
]);

const accountSchema = z.discriminatedUnion('code', [
  coded('account', { tool: text.optional(), by: z.enum(['sign-in', 'key', 'window']).optional() }),
  coded('shared_account', { reason: reasonSchema, contact: text.optional() }),
]);

const remarkSchema: z.ZodType<CallRemark> = z.discriminatedUnion('code', [
  coded('questions_expired', { server: text, expired: count, asked: count }),
  coded('questions_not_asked', { questions: z.array(text), hasUser: z.boolean() }),
  coded('no_user', {}),
]);

/** For codes of a newer release. */
const unreadable = 'The call did not succeed, and this version of the service does not know why.';
const unreadableEnd = 'The turn failed, and this version of the service does not know why.';

export function eventToRow(event: TurnEvent): string {
  if (event.type === 'tool-auth-required' && event.account) {
    const account: z.infer<typeof accountSchema> = event.account;
    return JSON.stringify({ ...event, account, message: undefined });
  }
  if (!('failure' in event) || event.failure === undefined) return JSON.stringify(event);
  // Every code that is written can be read.
  const failure: z.infer<typeof failureSchema | typeof turnFailureSchema> = event.failure;
  return JSON.stringify({ ...event, failure, errorText: undefined });
}

export function eventFromRow(row: string): TurnEvent {
  const event = fromJson<TurnEvent>(row);
  if (event.type === 'tool-auth-required' && event.account) {
    const { type, toolCallId, toolName, server, serverTitle, account: given, ...rest } = event;
    const { data: account } = accountSchema.safeParse(given);
    const named = { type, toolCallId, toolName, server, serverTitle };
    const notice = { serverTitle, account: account ?? { code: 'account' as const }, url: rest.url };
    const said = { message: missingAccountInWords(notice), ...(account && { account }) };
    return { ...named, ...said, ...rest };
  }
  if (!('failure' in event)) return event;
  if (event.type === 'error') {
    const { type, code, failure: given, ...rest } = event;
    const read = turnFailureSchema.safeParse(given);
    const said = read.success
      ? { errorText: turnFailureInWords(read.data), failure: read.data }
      : { errorText: unreadableEnd };
    return { type, code, ...said, ...rest };
  }
  const { type, toolCallId, toolName, failure: given, ...rest } = event;
  const read = failureSchema.safeParse(given);
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
  const checked = remark && remarkSchema.safeParse(remark).data;
  if (output.type !== 'call-failure') return partForModel({ ...rest, output, remark: checked });
  const read = failureSchema.safeParse(output.failure);
  const known = read.success
    ? { type: 'call-failure' as const, failure: read.data }
    : { type: 'error-text' as const, value: unreadable };
  return partForModel({ ...rest, output: known, remark: checked });
}
