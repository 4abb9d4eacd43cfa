/**
 * A turn as a task, folded from the turn's log: the same fold makes the task that is read, what a blocking caller gets, and
 * what is streamed. The answer is one artifact. Pure.
 */
import type { Artifact, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../turn/event.ts';
import { operationOf } from '../turn/operations.ts';
import type { TurnEndStatus, TurnRef } from '../turn/turn.ts';
import { saidTexts } from '../turn/said-texts.ts';
import { agentMessage, textPart, userMessage } from './parts.ts';
import { questionMessage, stateOf } from './question.ts';
import type { ShownQuestion } from './question.ts';

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

const answerId = 'answer';

export function createTaskView(facts: TaskFacts, { isStructured, pageOf }: ViewOptions): TaskView {
  const ids = { taskId: facts.turn.turnId, contextId: facts.turn.conversation };
  const blocks = new Map<string, { step: number; text: string }>();
  const questions = new Map<string, ElicitationEvent>();
  const answered = new Set<string>();
  let step = 0;
  let at = facts.createdAt;
  let progress: string | undefined;
  let failure: string | undefined;
  let isRefused = false;
  let end: TurnEndStatus | null =
    facts.status === 'starting' || facts.status === 'running' ? null : facts.status;
  let hasBegun = facts.status !== 'starting';
  let misfit: { elicitationId: string; reasons: string } | undefined;
  let toldText = '';
  let toldStatus = '';

  const open = () => [...questions.values()].filter(({ status }) => status === 'pending');
  const unanswered = () => open().filter(({ elicitationId }) => !answered.has(elicitationId));
  const text = () =>
    [...blocks.values()]
      .map((block) => block.text)
      .join('\n\n')
      .trim();

  function apply({ at: time, event }: LogEntry): void {
    at = Math.max(at, time);
    hasBegun = true;
    if (event.type === 'elicitation-request') questions.set(event.elicitationId, event);
    if (event.path === undefined) applyOwn(event);
  }

  /** What delegated agents say is for the agent that asked them. */
  function applyOwn(event: TurnEvent): void {
    switch (event.type) {
      case 'start-step':
        step = event.step;
        break;
      case 'text-delta': {
        const block = blocks.get(event.id) ?? { step, text: '' };
        blocks.set(event.id, { ...block, text: block.text + event.delta });
        break;
      }
      case 'reset-step':
        for (const [id, block] of blocks) if (block.step === event.step) blocks.delete(id);
        break;
      case 'finish-step':
        isRefused = event.finish === 'refused';
        break;
      case 'error':
        failure = event.errorText;
        break;
      case 'turn-ended':
        end = event.status;
        break;
      default:
    }
  }

  function status(): TaskStatus {
    const timestamp = new Date(at).toISOString();
    if (end !== null) {
      const words = failure ?? wordsFor(end);
      const isAnswer = end === 'completed' && !isRefused;
      const message = isAnswer || words === undefined ? undefined : say(`${ids.taskId}/end`, words);
      return { state: endState(end, isRefused), message, timestamp };
    }
    const [question, ...rest] = unanswered();
    if (question) {
      const reasons = misfit?.elicitationId === question.elicitationId ? misfit.reasons : undefined;
      const page = pageOf(question.elicitationId);
      const shown: ShownQuestion = { question, waiting: rest.length, misfit: reasons, page };
      return {
        state: stateOf(question, { isStructured }),
        message: questionMessage(shown, { ...ids, isStructured }),
        timestamp,
      };
    }
    const state = hasBegun ? TaskState.TASK_STATE_WORKING : TaskState.TASK_STATE_SUBMITTED;
    return {
      state,
      message: progress === undefined ? undefined : say(`${ids.taskId}/work`, progress),
      timestamp,
    };
  }

  const say = (messageId: string, words: string) => agentMessage(ids, messageId, [textPart(words)]);

  function artifact(words: string): Artifact {
    return {
      artifactId: answerId,
      name: answerId,
      description: '',
      parts: [textPart(words)],
      metadata: undefined,
      extensions: [],
    };
  }

  /** Text that only grows is appended; what the model took back is replaced as a whole. */
  function textUpdate(): StreamResponse | null {
    const now = text();
    if (now === toldText) return null;
    const append = toldText !== '' && now.startsWith(toldText);
    const update = artifact(append ? now.slice(toldText.length) : now);
    toldText = now;
    const value = { ...ids, artifact: update, append, lastChunk: false, metadata: undefined };
    return { payload: { $case: 'artifactUpdate', value } };
  }

  function statusUpdate(): StreamResponse | null {
    const now = status();
    const fingerprint = JSON.stringify({ ...now, timestamp: null });
    if (fingerprint === toldStatus) return null;
    toldStatus = fingerprint;
    return { payload: { $case: 'statusUpdate', value: { ...ids, status: now, metadata: undefined } } };
  }

  return {
    add(entries) {
      for (const entry of entries) {
        apply(entry);
        progress = operationOf(entry, '')?.label ?? progress;
      }
      return [textUpdate(), statusUpdate()].filter((update) => update !== null);
    },
    task() {
      toldText = text();
      const now = status();
      toldStatus = JSON.stringify({ ...now, timestamp: null });
      return {
        id: ids.taskId,
        contextId: ids.contextId,
        status: now,
        artifacts: toldText === '' ? [] : [artifact(toldText)],
        history: [userMessage(ids, facts.clientMessageId, saidTexts(facts.given).map(textPart))],
        metadata: undefined,
      };
    },
    state: () => status().state,
    shown: () => (end === null ? (unanswered()[0] ?? null) : null),
    open: () => (end === null ? open() : []),
    answered: (elicitationId) => void answered.add(elicitationId),
    misfit(reasons) {
      const [question] = unanswered();
      if (question) misfit = { elicitationId: question.elicitationId, reasons };
    },
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
