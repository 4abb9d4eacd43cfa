/**
 * Asks the user while a server keeps the connection of its call open. Each question is a round of its own. The activity
 * opens it, waits until its row is settled or its deadline passes, and reads the answer; the workflow only shows operators
 * that the call waits. When the database is down the activity waits for it, because the connection cannot be handed over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { AskUser, UserAnswer } from '../../remote/remote-servers.ts';
import type { RunningCall, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import type { ElicitationRow } from '../../storage/schema/question-tables.ts';
import type { TimedQuestion } from '../../storage/tables/elicitations.ts';
import { isDatabaseTrouble } from '../../storage/transient-errors.ts';
import { answerTookEffect } from '../../platform/telemetry/metrics/instruments.ts';
import { isTooManyOpen } from '../../turn/ask.ts';
import type { AskedQuestion } from '../../turn/ask.ts';
import { callWaits } from '../../workflows/messages.ts';
import { openQuestions, toAsked } from '../questions.ts';
import { longestTimerMs, shutdownAborter } from '../running-activity.ts';
import { requestedToolCall } from '../tool-results.ts';
import { credentialOrNone } from './account.ts';
import type { Attempt, CallParts, ServerAttempt } from './attempt.ts';
import { tooManyRounds, toRound } from './rounds.ts';
import type { Round } from './rounds.ts';
import { questionsOfRound, tooManyQuestions } from './server-rounds.ts';

interface QuestionsDuringCall extends AskUser {
  /** Resolves when everything that the server reported about its questions is written. */
  settled(): Promise<unknown>;
  hasAsked(): boolean;
}

/** The end of a turn closes its questions, and stops this activity at most this much later. */
const endingMs = 2_000;
/** Between two tries while the database is down. */
const retryMs = 500;

type Refused = Extract<UserAnswer, { kind: 'refused' }>;

const callHasEnded: Refused = { kind: 'refused', failure: { code: 'call_ended' } };

export function createQuestionsDuringCall(parts: CallParts, attempt: ServerAttempt): QuestionsDuringCall {
  const { elicitations } = parts.storage;
  const rounds = new HeldRounds(parts, attempt);
  // Made here, because later calls come from callbacks outside the activity's async context.
  const report = reportToWorkflow(attempt.input.toolCallId);
  const end = shutdownAborter();
  const writes = new Set<Promise<unknown>>();
  let open = 0;
  let release: (() => void) | null = null;

  async function askUser(
    question: ServerQuestion,
    signal: AbortSignal,
    running: RunningCall | undefined,
  ): Promise<UserAnswer> {
    const { input, server, tool } = attempt;
    const kept = await rounds.keep(question, running, signal);
    if ('kind' in kept) return kept;
    const asked = questionsOfRound(parts, input, { server, tool }, kept.round, kept.number);
    const opened = await untilDatabaseAnswers(signal, () =>
      openQuestions(parts, input, asked, { isHeld: true }),
    );
    if (isTooManyOpen(opened.kind))
      return { kind: 'refused', failure: tooManyQuestions(opened.kind, server.title) };
    const [timed] = opened.kind === 'opened' ? opened.questions : [];
    if (!timed) return callHasEnded;
    report.waits(toAsked(timed));
    const settled = await untilSettled(parts, attempt, timed, signal);
    report.goesOn(settled.id);
    answerTookEffect(settled, parts.storage.now());
    const [answer] = await untilDatabaseAnswers(signal, () => parts.rounds.answersTo(kept.round, [settled]));
    const credential = await credentialOrNone(parts.storeOf(server), server, input.turn);
    return {
      kind: 'answer',
      answer: { action: 'cancel', ...answer, key: question.key },
      outcome: settled.status === 'pending' ? 'cancel' : settled.status,
      ...(credential && { credential }),
    };
  }

  return {
    /** A call takes one place of the limit while it has an open question. */
    async ask(question, signal, running) {
      if (open === 0) release = parts.heldCallLimit.acquire(end);
      if (!release)
        return { kind: 'refused', failure: { code: 'too_many_held', server: attempt.server.title } };
      open++;
      try {
        return await askUser(question, signal, running);
      } finally {
        if (--open === 0) release();
      }
    },
    pageDone(question) {
      const id = rounds.elicitationIdOf(question);
      if (id === undefined) return;
      // If this fails the question stays open and expires.
      const write = elicitations.settle([id], { type: 'page-done' }).catch(() => undefined);
      writes.add(write);
      void write.then(() => writes.delete(write));
    },
    hasAsked: () => rounds.areAny(),
    settled: () => Promise.all(writes),
  };
}

/** Returns the row once it is settled. Rejects when `signal` aborts. */
async function untilSettled(
  { storage }: CallParts,
  attempt: Attempt,
  asked: TimedQuestion,
  signal: AbortSignal,
): Promise<ElicitationRow> {
  const { elicitations } = storage;
  let { question, remainingMs } = asked;
  const { id } = question;
  while (question.status === 'pending') {
    const deadline = AbortSignal.timeout(Math.min(remainingMs, longestTimerMs));
    const either = AbortSignal.any([signal, deadline]);
    const settled = await untilDatabaseAnswers(signal, () =>
      elicitations.untilSettled(asked.question, either),
    );
    if (settled) question = settled;
    else if (signal.aborted) {
      // If the server is gone the question stays open: the call may be retried, and its end closes the question.
      if (signal.reason === 'server_gave_up') await withdraw(storage, attempt, id);
      throw signal.reason;
    } else {
      const [after] = await untilDatabaseAnswers(signal, () =>
        elicitations.settle([id], { type: 'deadline-passed' }),
      );
      if (!after) throw new Error(`Question ${id} is not in the database.`);
      ({ question, remainingMs } = after);
    }
  }
  // Closed without an answer. If the turn is ending, this activity is stopped in a moment: prefer that to an answer.
  if (question.status === 'cancel' && question.responseId === null)
    await sleep(endingMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) throw signal.reason;
  return question;
}

/**
 * The server does not wait any more. Rejects if another attempt has taken the call over: that attempt has abandoned this
 * one's call, which is why the server withdrew the question, and asks the same question again on its own connection.
 */
async function withdraw(storage: CallParts['storage'], { input, by }: Attempt, id: string): Promise<void> {
  await requestedToolCall(storage, input.turn, input.toolCallId, by);
  await storage.elicitations.settle([id], { type: 'withdrawn', because: 'server_gave_up' });
}

async function untilDatabaseAnswers<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isDatabaseTrouble(error)) throw error;
    }
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The rounds of a call whose connection is held. They are stored one after the other, because rounds are numbered. */
class HeldRounds {
  readonly #parts: CallParts;
  readonly #attempt: Attempt;
  readonly #idOf = new Map<ServerQuestion, string>();
  #latest: Promise<unknown> = Promise.resolve();

  constructor(parts: CallParts, attempt: Attempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  keep(
    question: ServerQuestion,
    call: RunningCall | undefined,
    signal: AbortSignal,
  ): Promise<{ round: Round; number: number } | Refused> {
    const kept = this.#latest.then(() =>
      signal.aborted ? callHasEnded : untilDatabaseAnswers(signal, () => this.#keepNext(question, call)),
    );
    this.#latest = kept.catch(() => undefined);
    return kept;
  }

  /** Undefined until the question is stored. */
  elicitationIdOf(question: ServerQuestion): string | undefined {
    return this.#idOf.get(question);
  }

  areAny(): boolean {
    return this.#idOf.size > 0;
  }

  async #keepNext(question: ServerQuestion, call: RunningCall | undefined) {
    const { rounds } = this.#parts;
    const { input, by, server } = this.#attempt;
    const { turn, toolCallId } = input;
    const before = await rounds.list(turn, toolCallId);
    // A call that is repeated after a crash asks the same again: it gets the stored question, so that people see it once.
    const index = before.findIndex(({ questions: [one] }) => {
      const isTaken = [...this.#idOf.values()].includes(one?.elicitationId ?? '');
      return !isTaken && JSON.stringify(one?.request) === JSON.stringify(question.request);
    });
    const same = before[index];
    if (same) return this.#kept(question, same, index + 1);
    const pause = { questions: [question], resume: { kind: 'held' as const, ...(call && { call }) } };
    const excess = tooManyRounds(server, before, pause);
    if (excess !== null) return { kind: 'refused' as const, failure: excess };
    const round = await rounds.keep(turn, toolCallId, before, toRound(pause), by);
    return round ? this.#kept(question, round, before.length + 1) : callHasEnded;
  }

  #kept(question: ServerQuestion, round: Round, number: number) {
    this.#idOf.set(question, round.questions[0]?.elicitationId ?? '');
    return { round, number };
  }
}

/** Best effort: the rows contain the same. */
function reportToWorkflow(toolCallId: string) {
  const { client, info } = Context.current();
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const workflow = client.workflow.getHandle(workflowId, runId);
  const open = new Map<string, AskedQuestion>();

  function send(): void {
    const questions = [...open.values()];
    workflow.signal(callWaits, { toolCallId, questions }).catch(() => undefined);
  }

  return {
    waits(question: AskedQuestion): void {
      open.set(question.elicitationId, question);
      send();
    },
    goesOn(elicitationId: string): void {
      if (open.delete(elicitationId)) send();
    },
  };
}
