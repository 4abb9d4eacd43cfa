/**
 * A turn as an A2A task. The same view serves reads, blocking calls and streams. The agent's answer is the task's one
 * artifact. Pure.
 */
import { TaskState } from '@a2a-js/sdk';
import type { Artifact, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry } from '../../../turn/event.ts';
import { emptyTurn, foldTurn, openQuestions, ownText } from '../../../turn/fold-turn.ts';
import { saidTexts } from '../../../turn/message-parts.ts';
import { operationOf } from '../../../turn/operations.ts';
import type { TurnEndStatus, TurnRef } from '../../../turn/turn.ts';
import { agentMessage, textPart, userMessage } from './parts.ts';
import { questionMessage, stateOf } from './question.ts';
import type { ShownQuestion } from './question.ts';

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
  let turn = emptyTurn;
  /** What the turn is doing, as text. */
  let progress: string | undefined;
  const answered = new Set<string>();
  let misfit: { elicitationId: string; reasons: string } | undefined;
  let sentText = '';
  let sentStatus = '';

  const end = () =>
    turn.end?.status ?? (facts.status === 'starting' || facts.status === 'running' ? null : facts.status);
  const unanswered = () => openQuestions(turn).filter(({ elicitationId }) => !answered.has(elicitationId));

  function shownQuestion(): ShownQuestion | null {
    const [question, ...rest] = unanswered();
    if (!question || end() !== null) return null;
    const reasons = misfit?.elicitationId === question.elicitationId ? misfit.reasons : undefined;
    return { question, waiting: rest.length, misfit: reasons, page: pageOf(question.elicitationId) };
  }

  function status(): TaskStatus {
    const timestamp = new Date(Math.max(facts.createdAt, turn.at ?? 0)).toISOString();
    const say = (messageId: string, words: string | undefined) =>
      words === undefined ? undefined : agentMessage(ids, messageId, [textPart(words)]);
    const ended = end();
    if (ended !== null) {
      const state = endState(ended, turn.finish === 'refused');
      const isAnswered = state === TaskState.TASK_STATE_COMPLETED;
      const words = isAnswered ? undefined : (turn.failure?.errorText ?? wordsFor(ended));
      return { state, message: say(`${ids.taskId}/end`, words), timestamp };
    }
    const asked = shownQuestion();
    if (asked) {
      const message = questionMessage(asked, { ...ids, isStructured });
      return { state: stateOf(asked.question), message, timestamp };
    }
    const isWaiting = facts.status === 'starting' && turn.at === null;
    const state = isWaiting ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
    return { state, message: say(`${ids.taskId}/work`, progress), timestamp };
  }

  /** Text that only grew is appended; otherwise the whole text is sent again. */
  function textUpdate(): StreamResponse | null {
    const now = ownText(turn).trim();
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
      turn = foldTurn(turn, entries);
      for (const entry of entries) progress = operationOf(entry, '')?.label ?? progress;
      return [textUpdate(), statusUpdate()].filter((update) => update !== null);
    },
    task() {
      const now = status();
      sentText = ownText(turn).trim();
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
    open: () => (end() === null ? openQuestions(turn) : []),
    answered: (elicitationId) => void answered.add(elicitationId),
    misfit(reasons) {
      const [question] = unanswered();
      if (question) misfit = { elicitationId: question.elicitationId, reasons };
    },
  };
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
