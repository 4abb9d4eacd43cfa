/**
 * A turn as an A2A task, folded from the turn's log. The same fold serves reads, blocking calls and streams. The agent's
 * answer is the task's one artifact. Pure.
 */
import { TaskState } from '@a2a-js/sdk';
import type { Artifact, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../turn/event.ts';
import type { TurnEndStatus, TurnRef } from '../turn/turn.ts';
import { saidTexts } from '../turn/message-parts.ts';
import { operationOf } from '../turn/operations.ts';
import { agentMessage, textPart, userMessage } from './parts.ts';
import { questionMessage, stateOf } from './question.ts';
import type { Shown, ShownQuestion } from './question.ts';

interface TaskFacts {
  turn: Pick<TurnRef, 'conversation' | 'turnId'>;
  given: unknown;
  clientMessageId: string;
  createdAt: number;
  status: 'starting' | 'running' | TurnEndStatus;
}

export interface TaskView {
  /** Returns what changed since the last `add` or `task`: first the answer's text, then the status. */
  add(entries: LogEntry[]): StreamResponse[];
  task(): Task;
  state(): TaskState;
  /** The question that the task shows; null if it shows none. */
  shown(): ElicitationEvent | null;
  /** All open questions, oldest first. */
  open(): ElicitationEvent[];
  /** Hides a question that was answered and stays open until its outcome is in the log. */
  answered(elicitationId: string): void;
  /** Shows the current question again, with what was wrong with its answer. */
  misfit(reasons: string): void;
}

interface ViewOptions {
  /** The caller knows the extension. */
  isStructured: boolean;
  /** Where the person can answer a question, signed in. */
  pageOf(elicitationId: string): string;
}

export function createTaskView(facts: TaskFacts, { isStructured, pageOf }: ViewOptions): TaskView {
  const ids = { taskId: facts.turn.turnId, contextId: facts.turn.conversation };
  const turn = unfoldedTurn(facts.createdAt, facts.status);
  const answered = new Set<string>();
  let misfit: { elicitationId: string; reasons: string } | undefined;
  let sentText = '';
  let sentStatus = '';

  const unanswered = () => openIn(turn).filter(({ elicitationId }) => !answered.has(elicitationId));

  function shownQuestion(): ShownQuestion | null {
    const [question, ...rest] = unanswered();
    if (!question || turn.end !== null) return null;
    const reasons = misfit?.elicitationId === question.elicitationId ? misfit.reasons : undefined;
    return { question, waiting: rest.length, misfit: reasons, page: pageOf(question.elicitationId) };
  }

  const status = () => statusOf(turn, shownQuestion(), { ...ids, isStructured });

  /** Text that only grew is appended; otherwise the whole text is sent again. */
  function textUpdate(): StreamResponse | null {
    const now = answerIn(turn);
    if (now === sentText) return null;
    const append = sentText !== '' && now.startsWith(sentText);
    const update = artifactOf(append ? now.slice(sentText.length) : now);
    sentText = now;
    const value = { ...ids, artifact: update, append, lastChunk: false, metadata: undefined };
    return { payload: { $case: 'artifactUpdate', value } };
  }

  function statusUpdate(): StreamResponse | null {
    const now = status();
    const fingerprint = fingerprintOf(now);
    if (fingerprint === sentStatus) return null;
    sentStatus = fingerprint;
    return { payload: { $case: 'statusUpdate', value: { ...ids, status: now, metadata: undefined } } };
  }

  return {
    add(entries) {
      for (const entry of entries) foldIn(turn, entry);
      return [textUpdate(), statusUpdate()].filter((update) => update !== null);
    },
    task() {
      const now = status();
      sentText = answerIn(turn);
      sentStatus = fingerprintOf(now);
      return {
        id: ids.taskId,
        contextId: ids.contextId,
        status: now,
        artifacts: sentText === '' ? [] : [artifactOf(sentText)],
        history: [userMessage(ids, facts.clientMessageId, saidTexts(facts.given).map(textPart))],
        metadata: undefined,
      };
    },
    state: () => status().state,
    shown: () => shownQuestion()?.question ?? null,
    open: () => (turn.end === null ? openIn(turn) : []),
    answered: (elicitationId) => void answered.add(elicitationId),
    misfit(reasons) {
      const [question] = unanswered();
      if (question) misfit = { elicitationId: question.elicitationId, reasons };
    },
  };
}

function statusOf(turn: FoldedTurn, asked: ShownQuestion | null, shown: Shown): TaskStatus {
  const { taskId, contextId } = shown;
  const ids = { taskId, contextId };
  const timestamp = new Date(turn.at).toISOString();
  const say = (messageId: string, words: string | undefined) =>
    words === undefined ? undefined : agentMessage(ids, messageId, [textPart(words)]);
  if (turn.end !== null) {
    const state = endState(turn.end, turn.isRefused);
    const isAnswered = state === TaskState.TASK_STATE_COMPLETED;
    const words = isAnswered ? undefined : (turn.failure ?? wordsFor(turn.end));
    return { state, message: say(`${ids.taskId}/end`, words), timestamp };
  }
  if (asked) {
    return { state: stateOf(asked.question), message: questionMessage(asked, shown), timestamp };
  }
  const state = turn.hasBegun ? TaskState.TASK_STATE_WORKING : TaskState.TASK_STATE_SUBMITTED;
  return { state, message: say(`${ids.taskId}/work`, turn.progress), timestamp };
}

/** Ignores the time. */
function fingerprintOf(status: TaskStatus): string {
  return JSON.stringify({ ...status, timestamp: null });
}

function artifactOf(words: string): Artifact {
  return {
    artifactId: 'answer',
    name: 'answer',
    description: '',
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
  };
}

export function isTerminal(state: TaskState): boolean {
  switch (state) {
    case TaskState.TASK_STATE_COMPLETED:
    case TaskState.TASK_STATE_FAILED:
    case TaskState.TASK_STATE_CANCELED:
    case TaskState.TASK_STATE_REJECTED:
      return true;
    default:
      return false;
  }
}

/** A blocking call returns when a person has to act (specification 1.0, section 3.2.2). */
export function isInterrupted(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

function endState(end: TurnEndStatus, isRefused: boolean): TaskState {
  switch (end) {
    case 'completed':
      return isRefused ? TaskState.TASK_STATE_REJECTED : TaskState.TASK_STATE_COMPLETED;
    case 'failed':
      return TaskState.TASK_STATE_FAILED;
    case 'cancelled':
    case 'superseded':
      return TaskState.TASK_STATE_CANCELED;
    default:
      return end satisfies never;
  }
}

function wordsFor(end: TurnEndStatus): string | undefined {
  switch (end) {
    case 'completed':
      return 'The model refused to go on with this.';
    case 'failed':
      return 'The agent failed to do this.';
    case 'cancelled':
      return 'The task was cancelled.';
    case 'superseded':
      return 'A newer message in this context took the place of this one.';
    default:
      return end satisfies never;
  }
}

interface FoldedTurn {
  /** Time of the latest entry, in epoch milliseconds. */
  at: number;
  hasBegun: boolean;
  /** Null while the turn runs. */
  end: TurnEndStatus | null;
  step: number;
  /** What the agent said, without the text of repeated steps. */
  blocks: Map<string, { step: number; text: string }>;
  /** Including those of delegated agents. */
  questions: Map<string, ElicitationEvent>;
  /** What the turn is doing, in words. */
  progress: string | undefined;
  failure: string | undefined;
  /** The model refused to continue. */
  isRefused: boolean;
}

function unfoldedTurn(createdAt: number, status: 'starting' | 'running' | TurnEndStatus): FoldedTurn {
  return {
    at: createdAt,
    hasBegun: status !== 'starting',
    end: status === 'starting' || status === 'running' ? null : status,
    step: 0,
    blocks: new Map(),
    questions: new Map(),
    progress: undefined,
    failure: undefined,
    isRefused: false,
  };
}

function foldIn(turn: FoldedTurn, entry: LogEntry): void {
  const { at, event } = entry;
  turn.at = Math.max(turn.at, at);
  turn.hasBegun = true;
  turn.progress = operationOf(entry, '')?.label ?? turn.progress;
  if (event.type === 'elicitation-request') turn.questions.set(event.elicitationId, event);
  // A delegated agent's text is for the agent that called it.
  if (event.path === undefined) foldInOwn(turn, event);
}

function foldInOwn(turn: FoldedTurn, event: TurnEvent): void {
  switch (event.type) {
    case 'start-step':
      turn.step = event.step;
      break;
    case 'text-delta': {
      const block = turn.blocks.get(event.id) ?? { step: turn.step, text: '' };
      turn.blocks.set(event.id, { ...block, text: block.text + event.delta });
      break;
    }
    case 'reset-step':
      for (const [id, { step }] of turn.blocks) if (step === event.step) turn.blocks.delete(id);
      break;
    case 'finish-step':
      turn.isRefused = event.finish === 'refused';
      break;
    case 'error':
      turn.failure = event.errorText;
      break;
    case 'turn-ended':
      turn.end = event.status;
      break;
    default:
  }
}

function answerIn({ blocks }: FoldedTurn): string {
  return [...blocks.values()]
    .map(({ text }) => text)
    .join('\n\n')
    .trim();
}

/** Oldest first. */
function openIn({ questions }: FoldedTurn): ElicitationEvent[] {
  return [...questions.values()].filter(({ status }) => status === 'pending');
}
