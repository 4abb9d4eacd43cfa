/** One failure for each sentence that there is. */
import type { CallFailure } from '../../src/turn/call-failure.ts';
import { plainFailures } from '../../src/turn/turn-failure.ts';
import type { CodedFailure } from '../../src/turn/turn-failure.ts';

const closed = ['decline', 'cancel', 'expired'] as const;
const notAsked = ['unsupported', 'no-user', 'too-many-open', 'too-many-in-turn'] as const;
const server = 'Tracker';
const tool = 'tracker__list_issues';
const trouble = 'Tracker does not answer.';

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
  { code: 'account_unusable', trouble, isOperators: true },
  { code: 'account_unusable', trouble, isOperators: false },
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

/** The same for failures of turns. */
export const everyTurnFailure: CodedFailure[] = [
  { code: 'MaxStepsReached', maxSteps: 4 },
  { code: 'MaxStepsReached', maxSteps: 4, isDelegated: true },
  { code: 'UnknownAgent', agent: 'researcher' },
  { code: 'ModelEmptyAnswer' },
  { code: 'ModelEmptyAnswer', isOutOfRoom: true },
  ...plainFailures.map((code): CodedFailure => ({ code })),
];
