/** What timelines say, in English. */
import type { ConnectionReason, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import type { ToolOutcome } from '../../event.ts';
import type { TurnEndStatus } from '../../turn.ts';
import type { ContentLabel } from '../timeline.ts';

/** What a question asks of its user. `by`: the title of who asks; null: the agent. */
export type AskedFor =
  | { kind: 'approve'; tool: string; by: string | null }
  | { kind: 'answer' | 'open'; by: string | null }
  | { kind: 'connect'; by: string | null; reason: ConnectionReason };

export interface TimelineWords {
  language: Language;
  started: string;
  step: (number: number) => string;
  modelCalled: (times: number) => string;
  atOutputLimit: string;
  byContentFilter: string;
  attempt: (number: number) => string;
  delegatedTo: (agent: string) => string;
  needsAccount: (server: string) => string;
  cannotShowQuestion: string;
  error: string;
  cancelledTurn: (actor: string) => string;
  viewedContents: (actor: string) => string;
  tokens: (input: number, output: number) => string;
  ended: Record<TurnEndStatus, string>;
  theService: (name: string) => string;
  /** `user`: null if unknown. */
  wasAsked: (user: string | null, what: AskedFor) => string;
  waitsFor: (user: string, what: AskedFor) => string;
  since: (time: string) => string;
  left: (time: string) => string;
  overdue: string;
  waiting: string;
  waitingFor: (time: string) => string;
  hasConsented: string;
  /** `by`: not the user. `time`: how long it took; null if unknown. */
  settled: Record<Exclude<Status, 'pending'>, (by: string | null, time: string | null) => string>;
  endOfCall: (end: ToolOutcome | 'running' | 'failed') => string;
  contents: Record<ContentLabel, string>;
}

function task(what: AskedFor): string {
  const by = what.by ?? 'the agent';
  switch (what.kind) {
    case 'approve':
      return `to approve “${what.tool}” of ${by}`;
    case 'answer':
      return `to answer ${by}`;
    case 'open':
      return `to open a page of ${by}`;
    case 'connect':
      return {
        missing: `to connect ${by}`,
        rejected: `to connect ${by} again (${by} refused the account)`,
        insufficient_scope: `to connect ${by} again (${by} needs more permissions)`,
        revoked: `to connect ${by} again (the account was revoked)`,
      }[what.reason];
    default:
      return what satisfies never;
  }
}

function ended(how: string, by: string | null, time: string | null): string {
  return `${how}${by === null ? '' : ` by ${by}`}${time === null ? '' : ` after ${time}`}`;
}

export const timelineEn: TimelineWords = {
  language: 'en',
  started: 'Turn started',
  step: (number) => `Step ${number}`,
  modelCalled: (times) => `the model was called ${times} times`,
  atOutputLimit: 'stopped at its output limit',
  byContentFilter: 'stopped by a content filter',
  attempt: (number) => `attempt ${number}`,
  delegatedTo: (agent) => `Delegated to ${agent}`,
  needsAccount: (server) => `${server} needs an account`,
  cannotShowQuestion: 'the client cannot show the question',
  error: 'Error',
  cancelledTurn: (actor) => `${actor} cancelled the turn`,
  viewedContents: (actor) => `${actor} looked at the contents`,
  tokens: (input, output) => `${input} + ${output} tokens`,
  ended: {
    completed: 'Turn completed',
    failed: 'Turn failed',
    cancelled: 'Turn cancelled',
    superseded: 'Turn superseded',
  },
  theService: (name) => `the service ${name}`,
  wasAsked: (user, what) => `${user ?? 'The user'} was asked ${task(what)}`,
  waitsFor: (user, what) => `Waits for ${user} ${task(what)}`,
  since: (time) => `for ${time}`,
  left: (time) => `${time} left`,
  overdue: 'overdue',
  waiting: 'waiting',
  waitingFor: (time) => `waiting for ${time}`,
  hasConsented: 'agreed to open the page',
  settled: {
    accept: (by, time) => ended('accepted', by, time),
    decline: (by, time) => ended('declined', by, time),
    cancel: (by, time) => ended('closed without an answer', by, time),
    expired: (by, time) => ended('expired', by, time),
  },
  endOfCall: (end) => end,
  contents: {
    Message: 'Message',
    Text: 'Text',
    Arguments: 'Arguments',
    Task: 'Task',
    Result: 'Result',
    Error: 'Error',
    Question: 'Question',
    'To be approved': 'To be approved',
    Answer: 'Answer',
  },
};
