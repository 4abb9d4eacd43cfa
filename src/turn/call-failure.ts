/**
 * Why a tool call has no result of its tool, and what the service adds to a result. The log and the transcript store a code and
 * the data that its sentence needs. `for-model.ts` and `for-person.ts` say it. Pure.
 *
 * `server` and `agent` are titles, `tool` is the tool's name for the model.
 */
import { z } from 'zod';
import { accountTroubleSchema } from './account-trouble.ts';
import { serverTroubleSchema } from './server-trouble.ts';
import { turnFailureSchema } from './turn-failure.ts';

const text = z.string();
const count = z.int();
const reason = z.enum(['missing', 'rejected', 'insufficient_scope', 'revoked']);
const closed = ['decline', 'cancel', 'expired'] as const;
/** `unsupported`: the caller declared that it cannot present such a question. `no-user`: the turn runs for a service. */
const notAsked = [
  'unsupported',
  'no-user',
  'too-many-open',
  'too-many-in-turn',
  'too-many-in-tenant',
] as const;

function coded<const Code extends string, Data extends z.ZodRawShape>(code: Code, data: Data) {
  return z.object({ code: z.literal(code), ...data });
}

export const callFailureSchema = z.discriminatedUnion('code', [
  /**
   * The call needs an account. `address`: the page with the user's connections, if connecting the account helps. `still-refused`:
   * the account was connected, but the server still refuses it.
   */
  coded('account', {
    why: z.enum([...closed, ...notAsked, 'still-refused']),
    server: text,
    address: text.optional(),
  }),
  /** The same for an account that the tenant shares. `contact`: the person or team to ask. */
  coded('shared_account', { reason, server: text, contact: text.optional() }),
  /** `server`: null for an agent's own tool. `reason`: the user's. */
  coded('approval', {
    why: z.enum([...closed, ...notAsked]),
    tool: text,
    server: text.nullable(),
    reason: text.optional(),
  }),
  coded('approval_too_long', { tool: text, server: text.nullable() }),
  coded('not_as_approved', { server: text.nullable() }),
  /** The form that the model wanted to show. `question`: as text. */
  coded('form', { why: z.enum([...closed, ...notAsked, 'limit-reached']), question: text }),
  /** The front end has sent no result of its tool. */
  coded('frontend_tool', { why: z.enum([...closed, ...notAsked]), tool: text }),
  /** The server has a question in the middle of the call, and the limit of open questions is reached. */
  coded('too_many_questions', { limitOf: z.enum(['user', 'turn', 'tenant']), server: text }),
  /** The server keeps its connection open while people think, and too many such connections are open. */
  coded('too_many_held', { server: text }),
  /** The server keeps asking. */
  coded('too_many_rounds', { what: z.enum(['rounds', 'same-page']), limit: count, server: text }),
  /** The server refuses the call until the user has opened one of its pages. */
  coded('page_not_opened', { why: z.enum(closed), server: text }),
  /** The server asked what cannot be asked. `why`: the rule. `isTask`: it is a remote agent. */
  coded('unaskable', { why: text, server: text, isTask: z.literal(true).optional() }),
  /** The caller of this call cannot be asked at all. */
  coded('nobody_to_ask', {}),
  coded('ended_while_asking', { server: text }),
  coded('call_ended', {}),
  /** The agents file does not list the tool for this agent. */
  coded('not_allowed', { tool: text }),
  /** The agents file has no such server any more. */
  coded('no_server', { server: text }),
  /** A fault on our side. */
  coded('not_called', { server: text }),
  /** The account cannot be used at the moment. `isOperators`: an operator has to correct it. */
  coded('account_unusable', { trouble: accountTroubleSchema, isOperators: z.boolean() }),
  /** `note`: what follows for the tool, unless the trouble says it. */
  coded('server_trouble', {
    trouble: serverTroubleSchema,
    note: z.enum(['not_run', 'tried_before']).optional(),
  }),
  /** The server became unreachable while it waited for the user's answer. */
  coded('interrupted', { trouble: serverTroubleSchema }),
  /** The request may have reached the server. `trouble`: why there is no answer, if that is known. */
  coded('unknown_outcome', { server: text, trouble: serverTroubleSchema.optional() }),
  /** A tool in TypeScript: its workflow was ended from outside; its code never yields; no worker has its code. */
  coded('tool_lost', { tool: text }),
  coded('tool_stuck', { tool: text }),
  coded('tool_not_run', { tool: text }),
  /** The agent that got the task has no answer. `failure`: why its part of the turn failed. */
  coded('no_answer', { agent: text, failure: turnFailureSchema.optional() }),
  coded('empty_answer', { agent: text }),
  /** The model called a tool that it does not have. `tools`: those that it has. */
  coded('no_tool', { tool: text, tools: z.array(text) }),
  /** The arguments were no JSON object. */
  coded('bad_arguments', { tool: text }),
  /** A client called a tool that the agent does not have any more. */
  coded('tool_gone', { tool: text }),
  /** The model wrote a form that cannot be shown. `why`: the rule. */
  coded('form_refused', { why: text }),
  /** The model handed on a task without saying which. */
  coded('no_task', { tool: text }),
  /** The task was handed on too often, or the model handed out too many at once. */
  coded('not_handed_on', { why: z.enum(['too-often', 'too-many']), limit: count, agent: text }),
  /** The turn ended before the call. */
  coded('unfinished', {
    end: z.enum(['completed', 'failed', 'cancelled', 'superseded']),
    state: z.enum(['requested', 'started', 'paused', 'finished', 'delegated']),
  }),
]);

export type CallFailure = z.infer<typeof callFailureSchema>;

type WhyOf<Code extends CallFailure['code']> = Extract<CallFailure, { code: Code; why: string }>['why'];

export type AccountRefusal = WhyOf<'account'>;
/** Why a call was not approved. */
export type ApprovalRefusal = WhyOf<'approval'>;
/** Why a tool of the front end has no result. */
export type FrontendRefusal = WhyOf<'frontend_tool'>;

/** The account that a call needs, if its user was not asked. `by`: how people connect it. */
export const missingAccountSchema = z.discriminatedUnion('code', [
  coded('account', { tool: text.optional(), by: z.enum(['sign-in', 'key', 'window']).optional() }),
  coded('shared_account', { reason, contact: text.optional() }),
]);

export type MissingAccount = z.infer<typeof missingAccountSchema>;

/** Added to the tool's own result, for the model only. */
export const callRemarkSchema = z.discriminatedUnion('code', [
  /** `expired` of the `asked` questions expired. Their server got `cancel`. */
  coded('questions_expired', { server: text, expired: count, asked: count }),
  /** Questions of a tool in TypeScript that could not be asked, as text. */
  coded('questions_not_asked', { questions: z.array(text), hasUser: z.boolean() }),
  /** A server asked in a turn of a service. Its error speaks of a user's client. */
  coded('no_user', {}),
]);

export type CallRemark = z.infer<typeof callRemarkSchema>;
