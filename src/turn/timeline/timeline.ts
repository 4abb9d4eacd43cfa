/**
 * What happened in turns, item by item, for operators and the playground: made from the log and from what operators know in
 * addition. Ids, names and times; contents only on request. Pure.
 */
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionReason, Mode, Status, Trigger } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, ToolOutcome } from '../event.ts';
import { emptyTurn, foldTurn } from '../fold-turn.ts';
import type { ItemOf, TurnItem } from '../fold-turn.ts';
import { percentOf } from '../operations.ts';
import type { TurnEndStatus, Usage } from '../turn.ts';

export type ContentLabel =
  | 'Message'
  | 'Text'
  | 'Arguments'
  | 'Task'
  | 'Result'
  | 'Error'
  | 'Question'
  | 'To be approved'
  | 'Answer';
/** Something that was said, called or answered. */
type Content = { label: ContentLabel; text: string };

interface Common {
  id: string;
  turnId: string;
  /** Epoch milliseconds. */
  at: number;
  /** Null while it goes on. */
  endedAt: number | null;
  /** The delegated agent that does it, outermost first; empty for the turn's own agent. */
  path: string[];
  /** Absent unless contents were asked for. */
  contents?: Content[];
}

/** `outcome`: only of a failed call. */
interface CallEnd {
  state: 'running' | 'done' | 'failed';
  outcome?: ToolOutcome;
}

export type TimelineItem = Common &
  (
    | { kind: 'started'; agent: string }
    /** `attempts`: how often the model was called. `finish`: why it stopped early. */
    | { kind: 'step'; step: number; attempts: number; finish?: 'length' | 'refused' }
    /** `attempts`: how often the tool was called since the call last paused. `progress`: in percent. */
    | (CallEnd & {
        kind: 'call';
        toolCallId: string;
        toolName: string;
        attempts: number;
        progress?: number;
      })
    | (CallEnd & { kind: 'delegation'; toolCallId: string; agent: string })
    | TimelineQuestion
    /** An account is missing, and the client cannot show the question. */
    | { kind: 'not-asked'; serverTitle: string }
    | { kind: 'error'; code: string; message: string }
    /** An operator did something. */
    | { kind: 'act'; action: 'cancelled' | 'viewed'; actor: string }
    | { kind: 'ended'; status: TurnEndStatus; usage: Usage | null }
  );

export interface TimelineQuestion {
  kind: 'question';
  elicitationId: string;
  mode: Mode;
  trigger: Trigger;
  /** The title of the server, tool or agent that asks; null if the question does not say. */
  asker: string | null;
  toolName: string | null;
  /** Why an account is needed; null for other questions. */
  reason: ConnectionReason | null;
  /** Null if unknown. */
  user: string | null;
  status: Status;
  deadline: number;
  /** Who settled it, from the audit; null if it is not settled, or unknown. */
  settledBy: string | null;
  /** The user agreed to open the page. */
  hasConsented: boolean;
}

/** What the log does not contain. */
export interface MoreFacts {
  questions: {
    id: string;
    user: string;
    settledAt: number | null;
    settledBy: string | null;
    answer?: string;
  }[];
  /** As in `Attempts` of the storage. */
  attempts: { steps: Map<string, number>; calls: Map<string, number> };
  acts: { at: number; action: 'cancelled' | 'viewed'; actor: string }[];
}

interface Known {
  /** Include what was said, called and answered. */
  contents: boolean;
  more?: MoreFacts;
}

/** Entries may belong to several turns, in order. */
export function timelineOf(entries: readonly LogEntry[], known: Known): TimelineItem[] {
  const turns = [...Map.groupBy(entries, ({ turnId }) => turnId)];
  const items = turns.flatMap(([turnId, log]) => {
    const { items: folded } = foldTurn(emptyTurn, log);
    return folded.flatMap((item) => toTimelineItem(item, { turnId, folded, ...known }));
  });
  const acts = (known.more?.acts ?? []).map(({ at, action, actor }, index): TimelineItem => {
    const turnId = items[0]?.turnId ?? '';
    return { kind: 'act', id: `act/${index}`, turnId, at, endedAt: at, path: [], action, actor };
  });
  return acts.length === 0 ? items : [...items, ...acts].toSorted((one, other) => one.at - other.at);
}

/** How long questions were open in total. Overlapping times count once. */
export function waitedMs(items: readonly TimelineItem[], now: number): number {
  const waits = items
    .filter((item) => item.kind === 'question')
    .map(({ at, endedAt }) => [at, endedAt ?? now] as const)
    .toSorted(([one], [other]) => one - other);
  let total = 0;
  let until = 0;
  for (const [from, to] of waits) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}

interface InTurn extends Known {
  turnId: string;
  /** All items of the turn. */
  folded: readonly TurnItem[];
}

/** None for what is part of another item. */
function toTimelineItem(item: TurnItem, turn: InTurn): TimelineItem | [] {
  const { seq, at, endedAt, path } = item;
  const common = { id: String(seq), turnId: turn.turnId, at, endedAt, path };
  switch (item.type) {
    case 'turn-started':
      return { ...common, kind: 'started', agent: item.agent };
    case 'step':
      return { ...common, ...stepOf(item, turn) };
    case 'call':
      return { ...common, ...callOf(item, turn) };
    case 'question':
      return { ...common, ...questionOf(item, turn) };
    case 'tool-auth-required':
      return { ...common, kind: 'not-asked', serverTitle: item.serverTitle };
    case 'error':
      return { ...common, kind: 'error', code: item.code, message: item.errorText };
    case 'turn-ended':
      return { ...common, kind: 'ended', status: item.status, usage: item.usage ?? null };
    case 'text':
    case 'reset-step':
      return [];
    default:
      return item satisfies never;
  }
}

function stepOf({ step, finish, parentToolCallId }: ItemOf<'step'>, { folded, contents, more }: InTurn) {
  const ofAgent = folded.filter((item) => item.parentToolCallId === parentToolCallId);
  const texts = ofAgent.flatMap((item) => (item.type === 'text' && item.step === step ? [item.text] : []));
  const resets = ofAgent.filter((item) => item.type === 'reset-step' && item.step === step);
  // The storage's name of the step's row.
  const key = `${parentToolCallId === undefined ? '' : `agent/${parentToolCallId}/`}step/${step}`;
  const attempts = Math.max(more?.attempts.steps.get(key) ?? 1, 1 + resets.length);
  const said = shown(contents, { Text: texts.length > 0 ? texts.join('') : undefined });
  return { kind: 'step', step, attempts, ...said, ...(finish && { finish }) } as const;
}

function callOf({ call, progress, result }: ItemOf<'call'>, { contents, more }: InTurn) {
  const { toolCallId, toolName, agent, input } = call;
  const error = result?.type === 'tool-output-error' ? result : undefined;
  const state = error ? 'failed' : result ? 'done' : 'running';
  const outcome = error?.outcome && { outcome: error.outcome };
  const said = shown(contents, {
    [agent === undefined ? 'Arguments' : 'Task']: input,
    Result: result?.type === 'tool-output-available' ? result.output : undefined,
    Error: error?.errorText,
  });
  if (agent !== undefined)
    return { kind: 'delegation', toolCallId, agent, state, ...said, ...outcome } as const;
  const attempts = more?.attempts.calls.get(toolCallId) ?? 1;
  const percent = progress?.total !== undefined && { progress: percentOf(progress.progress, progress.total) };
  return { kind: 'call', toolCallId, toolName, state, attempts, ...said, ...percent, ...outcome } as const;
}

function questionOf(item: ItemOf<'question'>, { contents, more }: InTurn) {
  const { elicitationId, mode, status, context, expiresAt, message } = item.question;
  const known = more?.questions.find(({ id }) => id === elicitationId);
  const isSettled = status !== 'pending';
  return {
    kind: 'question',
    elicitationId,
    mode,
    trigger: context.trigger,
    asker: askerTitle(context) ?? null,
    toolName: context.toolName ?? null,
    reason: context.reason ?? null,
    user: known?.user ?? null,
    status,
    deadline: Date.parse(expiresAt),
    settledBy: known?.settledBy ?? null,
    hasConsented: item.hasConsented,
    endedAt: (isSettled ? known?.settledAt : null) ?? item.endedAt,
    ...shown(contents, {
      Question: message,
      'To be approved': context.arguments,
      Answer: isSettled ? known?.answer : undefined,
    }),
  } as const;
}

/** Undefined values are left out. */
function shown(contents: boolean, values: Partial<Record<ContentLabel, unknown>>): { contents?: Content[] } {
  const list = Object.entries(values).flatMap(([label, value]): Content[] => {
    if (!contents || value === undefined) return [];
    return [
      {
        label: label as ContentLabel,
        text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
      },
    ];
  });
  return list.length > 0 ? { contents: list } : {};
}
