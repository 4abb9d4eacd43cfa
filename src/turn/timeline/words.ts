/** The title and notes of each item of a timeline, for pages, terminals and browsers. Pure. */
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { ToolOutcome } from '../event.ts';
import { toolInWords } from '../operations.ts';
import type { TurnOwner } from '../turn.ts';
import type { TimelineItem, TimelineQuestion } from './timeline.ts';
import { timelineEn } from './words/en.ts';
import type { AskedFor, TimelineWords } from './words/en.ts';

interface Line {
  title: string;
  notes: string[];
  tone: 'plain' | 'good' | 'bad' | 'waiting';
}

/** `now`: to show how long unfinished items have lasted. */
export function lineOf(item: TimelineItem, now?: number, words: TimelineWords = timelineEn): Line {
  const duration = durationOf(item, now, words);
  const line = (title: string, notes: (string | null)[], tone: Line['tone'] = 'plain'): Line => ({
    title: [...item.path, title].join(' › '),
    notes: notes.filter((note) => note !== null),
    tone,
  });
  switch (item.kind) {
    case 'started':
      return line(words.started, [item.agent]);
    case 'step':
      return line(words.step(item.step + 1), [
        duration,
        item.attempts > 1 ? words.modelCalled(item.attempts) : null,
        item.finish === 'length' ? words.atOutputLimit : null,
        item.finish === 'refused' ? words.byContentFilter : null,
      ]);
    case 'call': {
      const again = item.attempts > 1 ? words.attempt(item.attempts) : null;
      const progress = item.progress === undefined || item.state !== 'running' ? null : `${item.progress} %`;
      return line(toolInWords(item.toolName), [endOf(item, words), progress, duration, again], toneOf(item));
    }
    case 'delegation':
      return line(words.delegatedTo(item.agent), [endOf(item, words), duration], toneOf(item));
    case 'question':
      return line(
        words.wasAsked(item.user, askedFor(item)),
        questionNotes(item, duration, now, words),
        questionTone(item),
      );
    case 'not-asked':
      return line(words.needsAccount(item.serverTitle), [words.cannotShowQuestion], 'bad');
    case 'error':
      return line(words.error, [item.code, item.message], 'bad');
    case 'act':
      return line(words[item.action === 'cancelled' ? 'cancelledTurn' : 'viewedContents'](item.actor), []);
    case 'ended': {
      const tokens = item.usage ? words.tokens(item.usage.inputTokens, item.usage.outputTokens) : null;
      return line(words.ended[item.status], [tokens], item.status === 'completed' ? 'good' : 'bad');
    }
    default:
      return item satisfies never;
  }
}

/** The user or service of a turn. */
export function ownerInWords({ user, service }: TurnOwner, words: TimelineWords = timelineEn): string {
  return user ?? words.theService(service ?? '');
}

interface OpenQuestion {
  user: string;
  request: ElicitationRequest;
  createdAt: number;
  deadline: number;
}

/** Who must do what, how long the question has been open, and until when. */
export function waitInWords(question: OpenQuestion, now: number, words: TimelineWords = timelineEn): string {
  return `${words.waitsFor(question.user, askedForIn(question.request))}, ${openInWords(question, now, words)}`;
}

/** How long the question has been open, and until when. */
export function openInWords(
  { createdAt, deadline }: Omit<OpenQuestion, 'user' | 'request'>,
  now: number,
  words: TimelineWords = timelineEn,
): string {
  return `${words.since(inTime(now - createdAt, words))}; ${leftInWords(deadline - now, words)}`;
}

function leftInWords(left: number, words: TimelineWords): string {
  return left > 0 ? words.left(inTime(left, words)) : words.overdue;
}

/** `alice was asked to connect Tracker` */
export function askedInWords(
  { user, request }: Pick<OpenQuestion, 'user' | 'request'>,
  words: TimelineWords = timelineEn,
): string {
  return words.wasAsked(user, askedForIn(request));
}

function askedForIn({ mode, context }: ElicitationRequest): AskedFor {
  const { trigger, toolName = null, reason = null } = context;
  return askedFor({ mode, trigger, asker: askerTitle(context) ?? null, toolName, reason });
}

function askedFor({
  trigger,
  mode,
  asker: by,
  toolName,
  reason,
}: Pick<TimelineQuestion, 'trigger' | 'mode' | 'asker' | 'toolName' | 'reason'>): AskedFor {
  if (trigger === 'approval') return { kind: 'approve', tool: inWords(toolName ?? ''), by };
  if (mode === 'form') return { kind: 'answer', by };
  const isAccount = trigger === 'credential_required' || trigger === 'a2a_auth_required';
  return isAccount ? { kind: 'connect', by, reason: reason ?? 'missing' } : { kind: 'open', by };
}

function questionNotes(
  item: TimelineQuestion,
  duration: string | null,
  now: number | undefined,
  words: TimelineWords,
): (string | null)[] {
  const { status, deadline, settledBy } = item;
  if (status !== 'pending')
    return [
      words.settled[status](settledBy === item.user && status !== 'expired' ? null : settledBy, duration),
    ];
  return [
    duration === null ? words.waiting : words.waitingFor(duration),
    now === undefined ? null : leftInWords(deadline - now, words),
    item.hasConsented ? words.hasConsented : null,
  ];
}

function questionTone({ status }: TimelineQuestion): Line['tone'] {
  if (status === 'pending') return 'waiting';
  if (status === 'accept') return 'good';
  return status === 'expired' ? 'bad' : 'plain';
}

type EndedCall = Pick<Extract<TimelineItem, { kind: 'call' }>, 'state' | 'outcome'>;

function endOf({ state, outcome }: EndedCall, words: TimelineWords): string | null {
  return state === 'done' ? null : words.endOfCall(outcome ?? state);
}

function toneOf({ state, outcome }: EndedCall): Line['tone'] {
  if (state === 'failed') return outcome !== undefined && peopleEnd.has(outcome) ? 'plain' : 'bad';
  return state === 'done' ? 'good' : 'plain';
}

/** Outcomes of calls that a person ended. */
const peopleEnd: ReadonlySet<ToolOutcome> = new Set(['decline', 'cancel', 'stopped']);

function durationOf(
  { at, endedAt }: TimelineItem,
  now: number | undefined,
  words: TimelineWords,
): string | null {
  const end = endedAt ?? now;
  return end === undefined ? null : inTime(end - at, words);
}

const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** `0.4 s`, `12 s`, `3 min`, `2 h`, `4 d`. */
export function inTime(ms: number, { language }: Pick<TimelineWords, 'language'> = timelineEn): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 9.95) return `${seconds.toLocaleString(language, oneDecimal)} s`;
  if (seconds < 119.5) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 119.5) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 47.5 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
}
