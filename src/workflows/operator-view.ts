/** What operators see of a running agent or tool in Temporal's UI: ids, names and times, no text. */
import {
  CancellationScope,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AskedQuestion } from '../turn/ask.ts';
import type { ToolCall } from '../turn/step.ts';
import type { TurnEndStatus } from '../turn/turn.ts';
import { callWaits, searchAttributes } from './messages.ts';
import type { CallWaits } from './messages.ts';

interface Shown {
  askedBy: string;
  text: string;
}

export class OperatorView {
  /** The running calls, and the questions that each waits for, by their ids. */
  readonly #calls = new Map<string, Map<string, Shown>>();
  #work = 'working';
  /** The askers in the search attributes; null if they do not say that it waits. */
  #shownAskers: Set<string> | null = null;

  /** True when every running call waits for a person. */
  get isWaiting(): boolean {
    return this.#calls.size > 0 && [...this.#calls.values()].every((questions) => questions.size > 0);
  }

  showStep(step: string): void {
    setCurrentDetails(`${step}: thinking`);
  }

  /** `next`: the step that the activity of the call goes on with. */
  showCalls(step: string, calls: ToolCall[], next?: number): void {
    const names = calls.map(nameOf).join(', ');
    this.#work = `${step}: ${next === undefined ? names : withNextStep(names, next)}`;
    setCurrentDetails(this.#work);
  }

  /** For a completed turn, Temporal's own status is enough. */
  showEnd(status: TurnEndStatus): void {
    setCurrentDetails(status);
    if (status !== 'completed') showStatus(status, null);
  }

  /** Runs `work` and counts it as a running call. */
  async whileRunning<T>(callId: string, work: () => Promise<T>): Promise<T> {
    this.#calls.set(callId, new Map());
    this.#update();
    try {
      return await work();
    } finally {
      this.#calls.delete(callId);
      this.#update();
    }
  }

  /** Runs `wait` and shows that the call waits for these questions. */
  async whileAsking<T>(callId: string, questions: AskedQuestion[], wait: () => Promise<T>): Promise<T> {
    this.#ask(callId, questions);
    try {
      return await wait();
    } finally {
      this.settled(
        questions.map(({ elicitationId }) => elicitationId),
        callId,
      );
    }
  }

  /** The call no longer waits for what it asked during the attempt. */
  attemptEnded(callId: string): void {
    this.#calls.get(callId)?.clear();
    this.#update();
  }

  /** This call, or by default every call, no longer waits for these questions. */
  settled(elicitationIds: string[], callId?: string): void {
    for (const [id, questions] of this.#calls)
      if (id === (callId ?? id)) for (const elicitationId of elicitationIds) questions.delete(elicitationId);
    this.#update();
  }

  /** Shows the questions of calls that an activity keeps open. Each signal replaces the one before. */
  listenToHeldCalls(): void {
    setHandler(callWaits, (message: unknown) => {
      const waiting = readCallWaits(message);
      const questions = waiting && this.#calls.get(waiting.toolCallId);
      if (!questions) return;
      questions.clear();
      this.#ask(waiting.toolCallId, waiting.questions);
    });
  }

  #ask(callId: string, questions: AskedQuestion[]): void {
    for (const question of questions) {
      const { elicitationId: id, askedBy, remainingMs } = question;
      const until = new Date(Date.now() + remainingMs).toISOString();
      const action = requestedAction(question, `**${askedBy}**`);
      const text = `- waiting for the user to ${action}, until ${until} (question \`${id}\`)`;
      this.#calls.get(callId)?.set(id, { askedBy, text });
    }
    this.#update();
  }

  #update(): void {
    // The workflow is stopping: only its end is still shown.
    if (CancellationScope.current().consideredCancelled) return;
    const { isWaiting } = this;
    const questions = [...this.#calls.values()].flatMap((asked) => [...asked.values()]);
    setCurrentDetails(isWaiting ? questions.map(({ text }) => text).join('\n') : this.#work);
    this.#showAskers(isWaiting ? questions.map(({ askedBy }) => askedBy) : null);
  }

  /** Each change is an event in history. So an asker that no longer waits is shown until the workflow goes on. */
  #showAskers(askers: string[] | null): void {
    const shown = this.#shownAskers;
    if (askers ? shown && askers.every((asker) => shown.has(asker)) : !shown) return;
    this.#shownAskers = askers && new Set(askers);
    if (this.#shownAskers) showStatus('waiting_input', fitting(this.#shownAskers));
    else showStatus(null, null);
  }
}

/** What a question asks its user to do. `by`: the asker's name. */
function requestedAction({ mode, isConnection }: AskedQuestion, by: string): string {
  if (isConnection) return `connect ${by}`;
  return mode === 'url' ? `open a page of ${by}` : `answer ${by}`;
}

/** For a timer: `waits for alice: Travel Desk asks`. */
export function waitsFor(user: string | null, questions: AskedQuestion[]): string {
  const reasons = questions.map(({ askedBy, askerTitle: asker = askedBy, isConnection }) =>
    isConnection ? `to connect ${asker}` : `${asker} asks`,
  );
  return clipped(`waits for ${user ?? 'a person'}: ${[...new Set(reasons)].join(', ')}`);
}

/** Temporal refuses summaries of more than 400 bytes, and sealing makes them longer. */
const summaryBytes = 120;
const utf8 = new TextEncoder();

/** Temporal refuses values of a search attribute of more than 2 KiB. */
const attributeBytes = 2_000;

/** As many as fit, as JSON. */
function fitting(askers: Iterable<string>): string[] {
  let bytes = 0;
  return [...askers].filter(
    (asker) => (bytes += utf8.encode(JSON.stringify(asker)).length + 1) <= attributeBytes,
  );
}

function clipped(text: string): string {
  if (utf8.encode(text).length <= summaryBytes) return text;
  let kept = '';
  let bytes = utf8.encode('…').length;
  for (const character of text) {
    bytes += utf8.encode(character).length;
    if (bytes > summaryBytes) break;
    kept += character;
  }
  return `${kept}…`;
}

export function withNextStep(name: string, next: number): string {
  return `${name} → step ${next + 1}`;
}

function showStatus(status: string | null, waitsFor: string[] | null): void {
  upsertSearchAttributes([
    { key: searchAttributes.status, value: status },
    { key: searchAttributes.waitsFor, value: waitsFor },
  ]);
}

function nameOf(call: ToolCall): string {
  switch (call.kind) {
    case 'server':
    case 'durable':
      return call.toolName;
    case 'question':
      return 'a question to the user';
    case 'delegated':
      return `delegated to ${call.agent}`;
    default:
      return call satisfies never;
  }
}

const mostQuestions = 100;
const longestMs = 365 * 24 * 60 * 60 * 1000;

/** Null for a malformed message: the sender of a signal is untrusted. */
function readCallWaits(message: unknown): CallWaits | null {
  const { toolCallId, questions } = fieldsOf(message);
  if (typeof toolCallId !== 'string' || !Array.isArray(questions)) return null;
  return questions.length <= mostQuestions && questions.every(isQuestion) ? { toolCallId, questions } : null;
}

function isQuestion(value: unknown): value is AskedQuestion {
  const { elicitationId, remainingMs, mode, askedBy, askerTitle = '' } = fieldsOf(value);
  const isText = (field: unknown) => typeof field === 'string' && field.length <= 255;
  const isTime = typeof remainingMs === 'number' && remainingMs >= 0 && remainingMs <= longestMs;
  const isMode = mode === 'url' || mode === 'form';
  return isText(elicitationId) && isText(askedBy) && typeof askerTitle === 'string' && isTime && isMode;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
