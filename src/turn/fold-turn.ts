/**
 * A turn as its log shows it so far. Readers fold the log with this, and translate the result into their protocol. Pure.
 *
 * Readers need not know that text of a repeated model call is void, that a text comes in any number of deltas, that a question
 * has an event for each change of its status, or that everything that goes on ends with the turn.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from './event.ts';

type Of<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>;

export interface FoldedTurn {
  /** In the order in which they began. */
  items: readonly TurnItem[];
  /** Time of the newest entry, in epoch milliseconds; null if there is none. */
  at: number | null;
  /** Why the last model call of the turn's own agent stopped early. */
  finish: Of<'finish-step'>['finish'];
  failure: Of<'error'> | null;
  end: Of<'turn-ended'> | null;
}

export type TurnItem = Common &
  (
    | { type: 'step'; step: number; finish: Of<'finish-step'>['finish'] }
    /** It becomes void if its model call is repeated. `endedAt` is the end of that call; `step` is undefined if unknown. */
    | { type: 'text'; id: string; step: number | undefined; text: string }
    /** `progress`: the newest with a total. */
    | {
        type: 'call';
        id: string;
        call: Of<'tool-input-available'>;
        progress?: Of<'tool-progress'>;
        result?: Of<'tool-output-available' | 'tool-output-error'>;
      }
    /** With its current status. `hasConsented`: the user agreed to open the page. */
    | { type: 'question'; id: string; question: ElicitationEvent; hasConsented: boolean }
    | Of<'turn-started' | 'reset-step' | 'tool-auth-required' | 'error' | 'turn-ended'>
  );

interface Common {
  /** Sequence number of the entry that began it. */
  seq: number;
  /** Epoch milliseconds. */
  at: number;
  /** Null while it goes on. */
  endedAt: number | null;
  /** The delegated agent that does it, outermost first; empty for the turn's own agent. */
  path: string[];
  /** The call that delegated to that agent. */
  parentToolCallId: string | undefined;
}

export type ItemOf<Type extends TurnItem['type']> = Extract<TurnItem, { type: Type }>;

export const emptyTurn: FoldedTurn = { items: [], at: null, finish: undefined, failure: null, end: null };

/** `entries`: of one turn, after those that were folded before. */
export function foldTurn(turn: FoldedTurn, entries: readonly LogEntry[]): FoldedTurn {
  return entries.reduce(fold, turn);
}

function fold(turn: FoldedTurn, entry: LogEntry): FoldedTurn {
  const { at, event } = entry;
  const isOwnEnd = event.type === 'finish-step' && event.path === undefined;
  return {
    items: foldItems(turn.items, entry),
    at: Math.max(turn.at ?? at, at),
    finish: isOwnEnd ? event.finish : turn.finish,
    failure: event.type === 'error' ? event : turn.failure,
    end: event.type === 'turn-ended' ? event : turn.end,
  };
}

function foldItems(items: readonly TurnItem[], { seq, at, event }: LogEntry): readonly TurnItem[] {
  const { path = [], parentToolCallId } = event;
  const common: Common = { seq, at, endedAt: null, path, parentToolCallId };
  /** Belongs to the current model call of the event's agent. */
  const isCurrent = (item: TurnItem): item is ItemOf<'step' | 'text'> =>
    (item.type === 'step' || item.type === 'text') &&
    item.endedAt === null &&
    item.parentToolCallId === parentToolCallId;
  switch (event.type) {
    case 'turn-started':
    case 'tool-auth-required':
    case 'error':
      return [...items, { ...event, ...common, endedAt: at }];
    case 'reset-step':
      // The step may have another number: the log may have deleted the `start-step`.
      return [...items.filter((item) => !isCurrent(item)), { ...event, ...common, endedAt: at }];
    case 'turn-ended':
      return [
        ...items.map((item) => ({ ...item, endedAt: item.endedAt ?? at })),
        { ...event, ...common, endedAt: at },
      ];
    case 'start-step':
      return [...items, { ...common, type: 'step', step: event.step, finish: undefined }];
    case 'finish-step':
      return items.map((item) => {
        if (!isCurrent(item)) return item;
        return { ...item, endedAt: at, ...(item.type === 'step' && { finish: event.finish }) };
      });
    case 'text-start':
    case 'text-delta': {
      const { id } = event;
      const text = event.type === 'text-delta' ? event.delta : '';
      const known = items.findLast((item) => item.type === 'text' && item.id === id && isCurrent(item));
      if (known?.type === 'text')
        return items.with(items.indexOf(known), { ...known, text: known.text + text });
      return [...items, { ...common, type: 'text', id, step: items.findLast(isCurrent)?.step, text }];
    }
    case 'tool-input-available':
      return [...items, { ...common, type: 'call', id: event.toolCallId, call: event }];
    case 'tool-progress':
      if (event.total === undefined || event.total <= 0) return items;
      return changed(items, 'call', event.toolCallId, { progress: event });
    case 'tool-output-available':
    case 'tool-output-error':
      return changed(items, 'call', event.toolCallId, { result: event, endedAt: at });
    case 'elicitation-request': {
      const { elicitationId: id, status, context } = event;
      const now = { question: event, endedAt: status === 'pending' ? null : at };
      if (items.some((item) => item.type === 'question' && item.id === id))
        return changed(items, 'question', id, now);
      const asker = event.path ?? context.path ?? [];
      return [...items, { ...common, path: asker, type: 'question', id, hasConsented: false, ...now }];
    }
    case 'elicitation-consented':
      return changed(items, 'question', event.elicitationId, { hasConsented: true });
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return items;
    default:
      event satisfies never;
      // An event of a newer release.
      return items;
  }
}

function changed<Type extends 'call' | 'question'>(
  items: readonly TurnItem[],
  type: Type,
  id: string,
  changes: Partial<ItemOf<Type>>,
): readonly TurnItem[] {
  return items.map((item) => (item.type === type && item.id === id ? { ...item, ...changes } : item));
}

/** What the turn's own agent has said. */
export function ownText({ items }: FoldedTurn): string {
  const texts = items.flatMap((item) => (item.type === 'text' && isOwn(item) ? [item.text] : []));
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Oldest first, with those of delegated agents. */
export function openQuestions({ items }: FoldedTurn): ElicitationEvent[] {
  return items.flatMap((item) =>
    item.type === 'question' && item.question.status === 'pending' ? [item.question] : [],
  );
}

export function isOwn({ path }: Common): boolean {
  return path.length === 0;
}
