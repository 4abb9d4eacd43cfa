/** One failure for each sentence that there is. */
import { accountTroubleSchema } from '../../src/turn/account-trouble.ts';
import type { AccountTrouble } from '../../src/turn/account-trouble.ts';
import type { CallFailure } from '../../src/turn/call-failure.ts';
import type { ServerTrouble } from '../../src/turn/server-trouble.ts';
import { plainFailures } from '../../src/turn/turn-failure.ts';
import type { CodedFailure } from '../../src/turn/turn-failure.ts';

const closed = ['decline', 'cancel', 'expired'] as const;
const notAsked = [
  'unsupported',
  'no-user',
  'too-many-open',
  'too-many-in-turn',
  'too-many-in-tenant',
] as const;
const server = 'Tracker';
const tool = 'tracker__list_issues';
const trouble = { code: 'busy', server } as const;

export const everyFailure: CallFailure[] = [
  ...[...closed, ...notAsked, 'still-refused' as const].flatMap((why): CallFailure[] => [
    { code: 'account', why, server },
    { code: 'account', why, server, address: 'https://a.example/connections' },
  ]),
  ...(['missing', 'rejected', 'insufficient_scope', 'revoked'] as const).map((reason): CallFailure => ({
    code: 'shared_account',
    reason,
    server,
    contact: 'the Tracker team',
  })),
  ...[...closed, ...notAsked].flatMap((why): CallFailure[] => [
    { code: 'approval', why, tool, server },
    { code: 'approval', why, tool, server: null, reason: 'Too many.' },
  ]),
  { code: 'approval_too_long', tool, server },
  { code: 'not_as_approved', server },
  { code: 'not_as_approved', server: null },
  ...[...closed, ...notAsked, 'limit-reached' as const].map((why): CallFailure => ({
    code: 'form',
    why,
    question: 'Which city?',
  })),
  { code: 'too_many_questions', limitOf: 'user', server },
  { code: 'too_many_questions', limitOf: 'turn', server },
  { code: 'too_many_questions', limitOf: 'tenant', server },
  { code: 'too_many_held', server },
  { code: 'too_many_rounds', what: 'rounds', limit: 5, server },
  { code: 'too_many_rounds', what: 'same-page', limit: 3, server },
  ...closed.map((why): CallFailure => ({ code: 'page_not_opened', why, server })),
  { code: 'unaskable', why: 'it asks for a password', server },
  { code: 'unaskable', why: 'it asks for a password', server, isTask: true },
  { code: 'nobody_to_ask' },
  { code: 'ended_while_asking', server },
  { code: 'call_ended' },
  { code: 'not_allowed', tool },
  { code: 'no_server', server },
  { code: 'not_called', server },
  ...everyAccountTrouble().flatMap((unusable): CallFailure[] => [
    { code: 'account_unusable', trouble: unusable, isOperators: true },
    { code: 'account_unusable', trouble: unusable, isOperators: false },
  ]),
  { code: 'server_trouble', trouble },
  { code: 'server_trouble', trouble, note: 'not_run' },
  { code: 'server_trouble', trouble, note: 'tried_before' },
  { code: 'interrupted', trouble },
  { code: 'unknown_outcome', server },
  { code: 'unknown_outcome', server, trouble },
  { code: 'tool_lost', tool },
  { code: 'tool_stuck', tool },
  { code: 'tool_not_run', tool },
  { code: 'no_answer', agent: 'Researcher' },
  {
    code: 'no_answer',
    agent: 'Researcher',
    failure: { code: 'MaxStepsReached', maxSteps: 4, isDelegated: true },
  },
  { code: 'empty_answer', agent: 'Researcher' },
  { code: 'no_tool', tool, tools: [] },
  { code: 'no_tool', tool, tools: ['tracker__count'] },
  { code: 'bad_arguments', tool },
  { code: 'tool_gone', tool },
  { code: 'form_refused', why: 'The form has no fields.' },
  { code: 'no_task', tool },
  { code: 'not_handed_on', why: 'too-often', limit: 3, agent: 'Researcher' },
  { code: 'not_handed_on', why: 'too-many', limit: 1, agent: 'Researcher' },
  ...(['completed', 'failed', 'cancelled', 'superseded'] as const).flatMap((end) =>
    (['requested', 'started', 'paused', 'finished', 'delegated'] as const).map((state): CallFailure => ({
      code: 'unfinished',
      end,
      state,
    })),
  ),
];

/** The same for troubles with servers. */
export const everyTrouble: ServerTrouble[] = [
  ...(['cancelled', 'connection_ended', 'session_lost', 'busy', 'not_mcp', 'not_mcp_process'] as const).map(
    (code): ServerTrouble => ({ code, server }),
  ),
  ...(['no_endpoint', 'connection_broken', 'card_late', 'no_card_content', 'no_interface'] as const).map(
    (code): ServerTrouble => ({ code, server }),
  ),
  ...(['unreadable_answer', 'call_ended', 'task_unknown', 'task_cancelled', 'task_end_unknown'] as const).map(
    (code): ServerTrouble => ({ code, server }),
  ),
  { code: 'other_host', server },
  ...(['timeout', 'task_timeout', 'task_stopped', 'execute_timeout'] as const).map((code): ServerTrouble => ({
    code,
    server,
    seconds: 30,
  })),
  { code: 'answer_too_large', server, megabytes: 10 },
  { code: 'unreadable_message', server, method: 'tools/call' },
  ...(['redirected', 'request_refused', 'failing', 'task_failing', 'no_messages', 'no_card'] as const).map(
    (code): ServerTrouble => ({ code, server, status: 418 }),
  ),
  ...(['not_listening', 'unknown_host', 'connect_timeout'] as const).map((code): ServerTrouble => ({
    code,
    server,
    remedy: 'url',
  })),
  { code: 'not_reached', server, error: '', remedy: 'card' },
  { code: 'not_reached', server, error: 'EHOSTUNREACH', remedy: 'card' },
  { code: 'certificate', server, error: 'CERT_HAS_EXPIRED' },
  { code: 'not_started', server, error: 'E2BIG' },
  { code: 'command_not_found', server, command: 'npx' },
  { code: 'command_not_executable', server, command: 'npx' },
  { code: 'no_folder', server, folder: '/srv/files' },
  { code: 'user_not_permitted', server, uid: 1000 },
  { code: 'process_ended', server, how: 'exit code 3' },
  { code: 'header_unsendable', server, header: 'x-key' },
  { code: 'header_unsendable', server, header: 'x-key', isTask: true },
  { code: 'other_era', server, era: '2026-07-28', status: 404 },
  { code: 'era_learned', server, was: '2026-07-28', now: '2025-11-25' },
  { code: 'tools_not_listed', server, error: -32603 },
  { code: 'call_failed', server, error: -32603 },
  { code: 'too_many_tools', server, tools: 1_000, pages: 50 },
  { code: 'call_refused', server, words: 'No such tool.' },
  { code: 'task_refused', server, words: 'No.' },
];

/** The same for failures of turns. */
export const everyTurnFailure: CodedFailure[] = [
  { code: 'MaxStepsReached', maxSteps: 4 },
  { code: 'MaxStepsReached', maxSteps: 4, isDelegated: true },
  { code: 'UnknownAgent', agent: 'researcher' },
  { code: 'ModelEmptyAnswer' },
  { code: 'ModelEmptyAnswer', isOutOfRoom: true },
  ...plainFailures.map((code): CodedFailure => ({ code })),
];

/** The same for troubles with accounts, whose schema lists the codes of each kind of data. */
function everyAccountTrouble(): AccountTrouble[] {
  const data = { server, status: 503, error: 'invalid_client', why: 'damaged' };
  return accountTroubleSchema.options.flatMap(({ shape }) =>
    shape.code.options.map((code) => accountTroubleSchema.parse({ code, ...data })),
  );
}
