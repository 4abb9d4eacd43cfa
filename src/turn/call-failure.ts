/**
 * Why a tool call has no result of its tool, and what the service adds to a result. The log and the transcript store a code and
 * the data that its sentence needs. `for-model.ts` and `for-person.ts` say it. Pure.
 *
 * `server` and `agent` are titles, `tool` is the tool's name for the model.
 */
import type { ApprovalRefusal } from '@interlude-ai/core/elicitation/approval.ts';
import type { ConnectedBy, ConnectionReason, Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ServerTrouble } from '@interlude-ai/core/mcp/trouble.ts';
import type { TurnFailure } from './turn-failure.ts';
import type { TurnEndStatus } from './turn.ts';

type Unanswered = Exclude<Outcome, 'accept'>;

export type CallFailure =
  /** The call needs an account. `address`: the page with the user's connections, if connecting the account helps. */
  | { code: 'account'; why: AccountRefusal; server: string; address?: string | undefined }
  /** The same for an account that the tenant shares. `contact`: the person or team to ask. */
  | { code: 'shared_account'; reason: ConnectionReason; server: string; contact?: string | undefined }
  /** `server`: null for an agent's own tool. `reason`: the user's. */
  | {
      code: 'approval';
      why: ApprovalRefusal;
      tool: string;
      server: string | null;
      reason?: string | undefined;
    }
  | { code: 'approval_too_long'; tool: string; server: string | null }
  | { code: 'not_as_approved'; server: string | null }
  /** The form that the model wanted to show. `question`: as text. */
  | { code: 'form'; why: FormRefusal; question: string }
  /** The server has a question in the middle of the call, and the limit of open questions is reached. */
  | { code: 'too_many_questions'; limitOf: 'user' | 'turn'; server: string }
  /** The server keeps its connection open while people think, and too many such connections are open. */
  | { code: 'too_many_held'; server: string }
  /** The server keeps asking. */
  | { code: 'too_many_rounds'; what: 'rounds' | 'same-page'; limit: number; server: string }
  /** The server refuses the call until the user has opened one of its pages. */
  | { code: 'page_not_opened'; why: Unanswered; server: string }
  /** The server asked what cannot be asked. `why`: the rule. `isTask`: it is a remote agent. */
  | { code: 'unaskable'; why: string; server: string; isTask?: true | undefined }
  /** The caller of this call cannot be asked at all. */
  | { code: 'nobody_to_ask' }
  | { code: 'ended_while_asking'; server: string }
  | { code: 'call_ended' }
  /** The agents file does not list the tool for this agent. */
  | { code: 'not_allowed'; tool: string }
  /** The agents file has no such server any more. */
  | { code: 'no_server'; server: string }
  /** A fault on our side. */
  | { code: 'not_called'; server: string }
  /** The account cannot be used at the moment. `isOperators`: an operator has to correct it. */
  | { code: 'account_unusable'; trouble: string; isOperators: boolean }
  /** `note`: what follows for the tool, unless the trouble says it. */
  | { code: 'server_trouble'; trouble: ServerTrouble; note?: 'not_run' | 'tried_before' | undefined }
  /** The server became unreachable while it waited for the user's answer. */
  | { code: 'interrupted'; trouble: ServerTrouble }
  /** The request may have reached the server. `trouble`: why there is no answer, if that is known. */
  | { code: 'unknown_outcome'; server: string; trouble?: ServerTrouble | undefined }
  /** A tool in TypeScript: its workflow was ended from outside; its code never yields; no worker has its code. */
  | { code: 'tool_lost' | 'tool_stuck' | 'tool_not_run'; tool: string }
  /** The agent that got the task has no answer. `failure`: why its part of the turn failed. */
  | { code: 'no_answer'; agent: string; failure?: TurnFailure | undefined }
  | { code: 'empty_answer'; agent: string }
  /** The model called a tool that it does not have. `tools`: those that it has. */
  | { code: 'no_tool'; tool: string; tools: string[] }
  /** The arguments were no JSON object. */
  | { code: 'bad_arguments'; tool: string }
  /** A client called a tool that the agent does not have any more. */
  | { code: 'tool_gone'; tool: string }
  /** The model wrote a form that cannot be shown. `why`: the rule. */
  | { code: 'form_refused'; why: string }
  /** The model handed on a task without saying which. */
  | { code: 'no_task'; tool: string }
  /** The task was handed on too often, or the model handed out too many at once. */
  | { code: 'not_handed_on'; why: 'too-often' | 'too-many'; limit: number; agent: string }
  /** The turn ended before the call. */
  | { code: 'unfinished'; end: TurnEndStatus; state: UnfinishedState };

/** Why the account of a call was not connected. */
export type AccountRefusal =
  | Unanswered
  /** The caller declared that it cannot present such a question. */
  | 'unsupported'
  /** The turn runs for a service, which has no account of its own to connect. */
  | 'no-user'
  /** Too many questions are open: of the user, or of the turn. */
  | 'too-many-open'
  | 'too-many-in-turn'
  /** The account was connected, but the server still refuses it. */
  | 'still-refused';

/** The account that a call needs, if its user was not asked. `by`: how people connect it. */
export type MissingAccount =
  | { code: 'account'; tool?: string | undefined; by?: ConnectedBy | undefined }
  | { code: 'shared_account'; reason: ConnectionReason; contact?: string | undefined };

/** Why a form of the model has no answer. */
export type FormRefusal =
  | Unanswered
  | 'unsupported'
  | 'too-many-open'
  | 'too-many-in-turn'
  | 'no-user'
  | 'limit-reached';

export type UnfinishedState = 'requested' | 'started' | 'paused' | 'finished' | 'delegated';

/** A superseded turn only waited for people, also in started calls: those that hold a connection, and tools in TypeScript. */
export function isWaiting({ end, state }: { end: TurnEndStatus; state: UnfinishedState }): boolean {
  return state === 'paused' || (state === 'started' && end === 'superseded');
}

/** Added to the tool's own result, for the model only. */
export type CallRemark =
  /** `expired` of the `asked` questions expired. Their server got `cancel`. */
  | { code: 'questions_expired'; server: string; expired: number; asked: number }
  /** Questions of a tool in TypeScript that could not be asked, as text. */
  | { code: 'questions_not_asked'; questions: string[]; hasUser: boolean }
  /** A server asked in a turn of a service. Its error speaks of a user's client. */
  | { code: 'no_user' };
