/**
 * What happened in turns, item by item, for operators and the playground: made from the log and from what operators know in
 * addition. Ids, names and times; contents only on request. Pure.
 */
import { askerTitle } from '../elicitation/elicitation.ts';
import type { ConnectionReason, Mode, Status, Trigger } from '../elicitation/elicitation.ts';
import type { LogEntry, ToolOutcome, TurnEvent } from '../turn/event.ts';
import { percentOf } from '../turn/operations.ts';
import type { TurnEndStatus, Usage } from '../turn/turn.ts';

/** Something that was said, called or answered. */
type Content = { label: string; text: string };

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

type Item<Kind extends TimelineItem['kind']> = Extract<TimelineItem, { kind: Kind }>;

/** Entries may belong to several turns, in order. `contents`: include what was said, called and answered. */
export function timelineOf(
  entries: readonly LogEntry[],
  { contents, more }: { contents: boolean; more?: MoreFacts },
): TimelineItem[] {
  const fold = new Fold(contents, more);
  for (const entry of entries) fold.add(entry);
  return fold.items();
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

class Fold {
  readonly #items: TimelineItem[] = [];
  /** Items that later entries change. */
  readonly #steps = new Map<string, Item<'step'>>();
  readonly #calls = new Map<string, Item<'call'> | Item<'delegation'>>();
  readonly #questions = new Map<string, Item<'question'>>();
  readonly #resets = new Map<string, number>();
  readonly #withContents: boolean;
  readonly #more: MoreFacts | undefined;

  constructor(withContents: boolean, more: MoreFacts | undefined) {
    this.#withContents = withContents;
    this.#more = more;
  }

  items(): TimelineItem[] {
    const acts = (this.#more?.acts ?? []).map(({ at, action, actor }, index): TimelineItem => {
      const turnId = this.#items[0]?.turnId ?? '';
      return { kind: 'act', id: `act/${index}`, turnId, at, endedAt: at, path: [], action, actor };
    });
    return acts.length === 0
      ? this.#items
      : [...this.#items, ...acts].toSorted((one, other) => one.at - other.at);
  }

  add({ seq, turnId, at, event }: LogEntry): void {
    const { path = [] } = event;
    const common = { id: String(seq), turnId, at, path };
    switch (event.type) {
      case 'turn-started':
        this.#items.push({ ...common, kind: 'started', endedAt: at, agent: event.agent });
        return;
      case 'start-step':
        return this.#startStep({ ...common, endedAt: null }, event);
      case 'text-delta':
        return this.#addText(this.#stepOf(turnId, event), event.delta);
      case 'finish-step': {
        const step = this.#stepOf(turnId, event);
        if (!step) return;
        step.endedAt = at;
        if (event.finish) step.finish = event.finish;
        return;
      }
      case 'reset-step':
        return this.#resetStep(turnId, event);
      case 'tool-input-available':
        return this.#addCall({ ...common, endedAt: null }, event);
      case 'tool-progress': {
        const call = this.#calls.get(callKey(turnId, event.toolCallId));
        if (call?.kind === 'call' && event.total !== undefined && event.total > 0)
          call.progress = percentOf(event.progress, event.total);
        return;
      }
      case 'tool-output-available':
      case 'tool-output-error': {
        const call = this.#calls.get(callKey(turnId, event.toolCallId));
        if (!call) return;
        const isDone = event.type === 'tool-output-available';
        call.endedAt = at;
        call.state = isDone ? 'done' : 'failed';
        if (event.type === 'tool-output-error' && event.outcome) call.outcome = event.outcome;
        this.#addContent(call, isDone ? 'Result' : 'Error', isDone ? event.output : event.errorText);
        return;
      }
      case 'elicitation-request':
        return this.#addQuestion(
          { ...common, endedAt: null, path: event.path ?? event.context.path ?? [] },
          event,
        );
      case 'elicitation-consented': {
        const question = this.#questions.get(event.elicitationId);
        if (question) question.hasConsented = true;
        return;
      }
      case 'tool-auth-required':
        this.#items.push({ ...common, kind: 'not-asked', endedAt: at, serverTitle: event.serverTitle });
        return;
      case 'error':
        this.#items.push({
          ...common,
          kind: 'error',
          endedAt: at,
          code: event.code,
          message: event.errorText,
        });
        return;
      case 'turn-ended':
        for (const item of this.#items) if (item.turnId === turnId) item.endedAt ??= at;
        this.#items.push({
          ...common,
          kind: 'ended',
          endedAt: at,
          status: event.status,
          usage: event.usage ?? null,
        });
        return;
      default:
        // Events of newer releases, and events that add no item.
        return;
    }
  }

  #startStep(common: Common, { step, parentToolCallId }: Of<'start-step'>): void {
    const key = stepKey(step, parentToolCallId);
    const known = this.#more?.attempts.steps.get(key) ?? 1;
    const attempts = Math.max(known, 1 + (this.#resets.get(`${common.turnId}/${key}`) ?? 0));
    const item: Item<'step'> = { ...common, kind: 'step', step, attempts };
    this.#steps.set(laneKey(common.turnId, parentToolCallId), item);
    this.#items.push(item);
  }

  /** The output of the attempt before is void. */
  #resetStep(turnId: string, event: Of<'reset-step'>): void {
    const key = `${turnId}/${stepKey(event.step, event.parentToolCallId)}`;
    this.#resets.set(key, (this.#resets.get(key) ?? 0) + 1);
    const lane = laneKey(turnId, event.parentToolCallId);
    const begun = this.#steps.get(lane);
    if (begun?.step !== event.step) return;
    this.#steps.delete(lane);
    this.#items.splice(this.#items.indexOf(begun), 1);
  }

  #stepOf(turnId: string, { parentToolCallId }: TurnEvent): Item<'step'> | undefined {
    return this.#steps.get(laneKey(turnId, parentToolCallId));
  }

  #addCall(common: Common, { toolCallId, toolName, agent, input }: Of<'tool-input-available'>): void {
    const attempts = this.#more?.attempts.calls.get(toolCallId) ?? 1;
    const state = 'running';
    const item: Item<'call'> | Item<'delegation'> =
      agent === undefined
        ? { ...common, kind: 'call', toolCallId, toolName, state, attempts }
        : { ...common, kind: 'delegation', toolCallId, agent, state };
    this.#addContent(item, agent === undefined ? 'Arguments' : 'Task', input);
    this.#calls.set(callKey(common.turnId, toolCallId), item);
    this.#items.push(item);
  }

  #addQuestion(common: Common, event: Of<'elicitation-request'>): void {
    const { elicitationId, mode, status, context, expiresAt } = event;
    const asked = this.#questions.get(elicitationId);
    const known = this.#more?.questions.find(({ id }) => id === elicitationId);
    if (asked) {
      asked.status = status;
      if (status === 'pending') return;
      asked.endedAt = known?.settledAt ?? common.at;
      if (known?.answer !== undefined) this.#addContent(asked, 'Answer', known.answer);
      return;
    }
    const item: Item<'question'> = {
      ...common,
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
      hasConsented: false,
      endedAt: status === 'pending' ? null : common.at,
    };
    this.#addContent(item, 'Question', event.message);
    if (context.arguments !== undefined) this.#addContent(item, 'To be approved', context.arguments);
    this.#questions.set(elicitationId, item);
    this.#items.push(item);
  }

  #addText(step: Item<'step'> | undefined, text: string): void {
    if (!step || !this.#withContents) return;
    const [said] = (step.contents ??= [{ label: 'Text', text: '' }]);
    if (said) said.text += text;
  }

  #addContent(item: TimelineItem, label: string, value: unknown): void {
    if (!this.#withContents || value === undefined) return;
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    (item.contents ??= []).push({ label, text });
  }
}

type Of<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>;

function laneKey(turnId: string, parentToolCallId = ''): string {
  return `${turnId}/${parentToolCallId}`;
}

function callKey(turnId: string, toolCallId: string): string {
  return `${turnId}/${toolCallId}`;
}

/** The storage's name of the step's row. */
function stepKey(step: number, parentToolCallId: string | undefined): string {
  return `${parentToolCallId === undefined ? '' : `agent/${parentToolCallId}/`}step/${step}`;
}
