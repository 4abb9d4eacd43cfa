/** The title and notes of each item of a timeline, for pages, terminals and browsers. Pure. */
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { ToolOutcome } from '../event.ts';
import { toolInWords } from '../operations.ts';
import type { TurnOwner } from '../turn.ts';
import type { TimelineItem, TimelineQuestion } from './timeline.ts';

interface Line {
  title: string;
  notes: string[];
  tone: 'plain' | 'good' | 'bad' | 'waiting';
}

/** `now`: to show how long unfinished items have lasted. */
export function lineOf(item: TimelineItem, now?: number): Line {
  const duration = durationOf(item, now);
  const line = (title: string, notes: (string | null)[], tone: Line['tone'] = 'plain'): Line => ({
    title: [...item.path, title].join(' › '),
    notes: notes.filter((note) => note !== null),
    tone,
  });
  switch (item.kind) {
    case 'started':
      return line('Turn started', [item.agent]);
    case 'step':
      return line(`Step ${item.step + 1}`, [
        duration,
        item.attempts > 1 ? `the model was called ${item.attempts} times` : null,
        item.finish === 'length' ? 'stopped at its output limit' : null,
        item.finish === 'refused' ? 'stopped by a content filter' : null,
      ]);
    case 'call': {
      const again = item.attempts > 1 ? `attempt ${item.attempts}` : null;
      const progress = item.progress === undefined || item.state !== 'running' ? null : `${item.progress} %`;
      return line(toolInWords(item.toolName), [endWord(item), progress, duration, again], toneOf(item));
    }
    case 'delegation':
      return line(`Delegated to ${item.agent}`, [endWord(item), duration], toneOf(item));
    case 'question':
      return line(questionTitle(item), questionNotes(item, duration, now), questionTone(item));
    case 'not-asked':
      return line(`${item.serverTitle} needs an account`, ['the client cannot show the question'], 'bad');
    case 'error':
      return line('Error', [item.code, item.message], 'bad');
    case 'act':
      return line(
        `${item.actor} ${item.action === 'cancelled' ? 'cancelled the turn' : 'looked at the contents'}`,
        [],
      );
    case 'ended': {
      const tokens = item.usage ? `${item.usage.inputTokens} + ${item.usage.outputTokens} tokens` : null;
      return line(`Turn ${item.status}`, [tokens], item.status === 'completed' ? 'good' : 'bad');
    }
    default:
      return item satisfies never;
  }
}

/** The user or service of a turn. */
export function ownerInWords({ user, service }: TurnOwner): string {
  return user ?? `the service ${service}`;
}

interface OpenQuestion {
  user: string;
  request: ElicitationRequest;
  createdAt: number;
  deadline: number;
}

/** Who must do what, how long the question has been open, and until when. */
export function waitInWords(question: OpenQuestion, now: number): string {
  return `Waits for ${question.user} ${askedForIn(question.request)}, ${openInWords(question, now)}`;
}

/** How long the question has been open, and until when. */
export function openInWords(
  { createdAt, deadline }: Omit<OpenQuestion, 'user' | 'request'>,
  now: number,
): string {
  const left = deadline - now;
  return `for ${inTime(now - createdAt)}; ${left > 0 ? `${inTime(left)} left` : 'overdue'}`;
}

export function askedForIn({ mode, context }: ElicitationRequest): string {
  const { trigger, toolName = null, reason = null } = context;
  return askedFor({ mode, trigger, asker: askerTitle(context) ?? null, toolName, reason });
}

/** What a question asks of its user: `to connect Tracker`. */
function askedFor({
  trigger,
  mode,
  asker,
  toolName,
  reason,
}: Pick<TimelineQuestion, 'trigger' | 'mode' | 'asker' | 'toolName' | 'reason'>): string {
  const by = asker ?? 'the agent';
  if (trigger === 'approval') return `to approve “${inWords(toolName ?? '')}” of ${by}`;
  if (mode === 'form') return `to answer ${by}`;
  const isAccount = trigger === 'credential_required' || trigger === 'a2a_auth_required';
  return isAccount ? `to connect ${by}${againBecause(by, reason)}` : `to open a page of ${by}`;
}

function againBecause(server: string, reason: TimelineQuestion['reason']): string {
  switch (reason) {
    case null:
    case 'missing':
      return '';
    case 'rejected':
      return ` again (${server} refused the account)`;
    case 'insufficient_scope':
      return ` again (${server} needs more permissions)`;
    case 'revoked':
      return ' again (the account was revoked)';
    default:
      return reason satisfies never;
  }
}

function questionTitle(item: TimelineQuestion): string {
  const user = item.user ?? 'The user';
  return `${user} was asked ${askedFor(item)}`;
}

function questionNotes(
  item: TimelineQuestion,
  duration: string | null,
  now: number | undefined,
): (string | null)[] {
  const after = duration === null ? '' : ` after ${duration}`;
  const by = item.settledBy === null || item.settledBy === item.user ? '' : ` by ${item.settledBy}`;
  const consent = item.hasConsented ? 'agreed to open the page' : null;
  switch (item.status) {
    case 'pending': {
      const left = now === undefined ? null : item.deadline - now;
      return [
        duration === null ? 'waiting' : `waiting for ${duration}`,
        left === null ? null : left > 0 ? `${inTime(left)} left` : 'overdue',
        consent,
      ];
    }
    case 'accept':
      return [`accepted${by}${after}`];
    case 'decline':
      return [`declined${by}${after}`];
    case 'cancel':
      return [`closed without an answer${by}${after}`];
    case 'expired':
      return [item.settledBy === null ? `expired${after}` : `expired by ${item.settledBy}${after}`];
    default:
      return item.status satisfies never;
  }
}

function questionTone({ status }: TimelineQuestion): Line['tone'] {
  if (status === 'pending') return 'waiting';
  if (status === 'accept') return 'good';
  return status === 'expired' ? 'bad' : 'plain';
}

type EndedCall = Pick<Extract<TimelineItem, { kind: 'call' }>, 'state' | 'outcome'>;

function endWord({ state, outcome }: EndedCall): string | null {
  if (state === 'done') return null;
  return outcome ?? state;
}

function toneOf({ state, outcome }: EndedCall): Line['tone'] {
  if (state === 'failed') return outcome !== undefined && peopleEnd.has(outcome) ? 'plain' : 'bad';
  return state === 'done' ? 'good' : 'plain';
}

/** Outcomes of calls that a person ended. */
const peopleEnd: ReadonlySet<ToolOutcome> = new Set(['decline', 'cancel', 'stopped']);

function durationOf({ at, endedAt }: TimelineItem, now: number | undefined): string | null {
  const end = endedAt ?? now;
  return end === undefined ? null : inTime(end - at);
}

/** `0.4 s`, `12 s`, `3 min`, `2 h`, `4 d`. */
export function inTime(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 119.5) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 119.5) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 47.5 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
}
