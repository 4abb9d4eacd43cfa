/**
 * A turn as a task, folded from the turn's log: the same fold makes the task that is read, what a blocking caller gets, and
 * what is streamed. The answer is one artifact. Pure.
 */
import type { Artifact, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { LogEntry } from '../turn/event.ts';
import type { TurnEndStatus, TurnRef } from '../turn/turn.ts';
import { saidTexts } from '../turn/said-texts.ts';
import { answerIn, foldIn, openIn, unfoldedTurn } from './folded-turn.ts';
import type { FoldedTurn } from './folded-turn.ts';
import { agentMessage, textPart, userMessage } from './parts.ts';
import { questionMessage, stateOf } from './question.ts';
import type { Shown, ShownQuestion } from './question.ts';

export interface TaskFacts {
  turn: Pick<TurnRef, 'conversation' | 'turnId'>;
  given: unknown;
  clientMessageId: string;
  createdAt: number;
  status: 'starting' | 'running' | TurnEndStatus;
}

export interface TaskView {
  /** What has changed for those who had seen all before: first the answer's text, then the status. */
  add(entries: LogEntry[]): StreamResponse[];
  task(): Task;
  state(): TaskState;
  /** The question that is shown; null when nobody is asked anything. */
  shown(): ElicitationEvent | null;
  /** All that are open, oldest first. */
  open(): ElicitationEvent[];
  /** Answered, and still open until its outcome is written: it is not shown again. */
  answered(elicitationId: string): void;
  /** What was wrong with the answer to the question that is shown. */
  misfit(reasons: string): void;
}

export interface ViewOptions {
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
  let toldText = '';
  let toldStatus = '';

  const unanswered = () => openIn(turn).filter(({ elicitationId }) => !answered.has(elicitationId));

  function shownQuestion(): ShownQuestion | null {
    const [question, ...rest] = unanswered();
    if (!question || turn.end !== null) return null;
    const reasons = misfit?.elicitationId === question.elicitationId ? misfit.reasons : undefined;
    return { question, waiting: rest.length, misfit: reasons, page: pageOf(question.elicitationId) };
  }

  const status = () => statusOf(turn, shownQuestion(), { ...ids, isStructured });

  /** Text that only grows is appended; what the model took back is replaced as a whole. */
  function textUpdate(): StreamResponse | null {
    const now = answerIn(turn);
    if (now === toldText) return null;
    const append = toldText !== '' && now.startsWith(toldText);
    const update = artifactOf(append ? now.slice(toldText.length) : now);
    toldText = now;
    const value = { ...ids, artifact: update, append, lastChunk: false, metadata: undefined };
    return { payload: { $case: 'artifactUpdate', value } };
  }

  function statusUpdate(): StreamResponse | null {
    const now = status();
    const fingerprint = fingerprintOf(now);
    if (fingerprint === toldStatus) return null;
    toldStatus = fingerprint;
    return { payload: { $case: 'statusUpdate', value: { ...ids, status: now, metadata: undefined } } };
  }

  return {
    add(entries) {
      for (const entry of entries) foldIn(turn, entry);
      return [textUpdate(), statusUpdate()].filter((update) => update !== null);
    },
    task() {
      const now = status();
      toldText = answerIn(turn);
      toldStatus = fingerprintOf(now);
      return {
        id: ids.taskId,
        contextId: ids.contextId,
        status: now,
        artifacts: toldText === '' ? [] : [artifactOf(toldText)],
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

/** The same for a status that says the same at another time. */
function fingerprintOf(status: TaskStatus): string {
  return JSON.stringify({ ...status, timestamp: null });
}

/** There is one, under one name: the answer. */
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

/** A blocking caller gets the task back when somebody has to act (specification 1.0, section 3.2.2). */
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
