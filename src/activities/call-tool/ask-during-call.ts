/**
 * Asks the user while a server keeps the connection of its call open. The activity signals the workflow what is asked,
 * and reads the outcome from the database, where the workflow writes it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { tooManyHeldForModel } from '../../elicitation/wording.ts';
import type { AskUser } from '../../remote/ask-user.ts';
import type { QuestionAnswer } from '../../remote/input-required.ts';
import type { QuestionOutcome } from '../../turn/ask.ts';
import { serverAsks, questionUpdate } from '../../workflows/messages.ts';
import type { ServerAsks, QuestionUpdate } from '../../workflows/messages.ts';
import { shutdownAborter, stopSignal } from '../stop-signal.ts';
import type { Attempt, CallServerParts } from './attempt.ts';
import { callHasEnded, createHeldRounds } from './held-rounds.ts';
import type { HeldRounds } from './held-rounds.ts';
import { credentialOrNone } from './resolve-credential.ts';
import { toCallPaused } from './rounds.ts';
import { waitForOutcome } from './wait-for-outcome.ts';

export interface QuestionsDuringCall extends AskUser {
  /** Resolves when all updates that were sent to the workflow are delivered or have failed. */
  updatesSent(): Promise<unknown>;
  hasAsked(): boolean;
}

const deliverAgainMs = 1_000;

type Parts = Pick<CallServerParts, 'storage' | 'rounds' | 'storeOf' | 'heldCallLimit'>;
type AskArguments = Parameters<AskUser['ask']>;
type AskResult = Awaited<ReturnType<AskUser['ask']>>;

interface AskingCall {
  parts: Parts;
  attempt: Attempt;
  rounds: HeldRounds;
  workflow: ReturnType<typeof workflowOfActivity>;
}

export function createQuestionsDuringCall(parts: Parts, attempt: Attempt): QuestionsDuringCall {
  const rounds = createHeldRounds(parts.rounds, attempt);
  const workflow = workflowOfActivity();
  const call: AskingCall = { parts, attempt, rounds, workflow };
  // Made here: later calls come from callbacks outside the activity's own async context.
  const end = shutdownAborter();
  let open = 0;
  let release: (() => void) | null = null;

  return {
    /** A call takes one place of the process, from its first open question to its last. */
    async ask(...asked) {
      if (open === 0) release = parts.heldCallLimit.acquire(end);
      if (!release) return { kind: 'refused', message: tooManyHeldForModel(attempt.server.title) };
      open++;
      try {
        return await askUser(call, ...asked);
      } finally {
        if (--open === 0) release();
      }
    },
    pageDone(question) {
      const elicitationId = rounds.elicitationIdOf(question);
      if (elicitationId !== undefined)
        workflow.update({ elicitationIds: [elicitationId], news: 'page_done' });
    },
    hasAsked: rounds.areAny,
    updatesSent: workflow.updatesSent,
  };
}

async function askUser(call: AskingCall, ...[question, signal, running]: AskArguments): Promise<AskResult> {
  const { parts, attempt, rounds, workflow } = call;
  const { server, input } = attempt;
  const { turn, toolCallId } = input;
  const kept = await rounds.keep(question, running, signal);
  if (kept.kind === 'refused') return kept;
  const { elicitationId, number, round } = kept;
  const { questions } = toCallPaused(round, number);
  await workflow.asks({ toolCallId, round: number, questions }, signal);
  const outcome = await outcomeOf(call, elicitationId, signal);
  if (outcome === null) return callHasEnded;
  const [answer] = await parts.rounds.answersTo(round, [outcome]);
  const named: QuestionAnswer = { action: 'cancel', ...answer, key: question.key };
  const credential = await credentialOrNone(parts.storeOf(server), server, turn);
  return { kind: 'answer', answer: named, outcome: outcome.outcome, ...(credential && { credential }) };
}

async function outcomeOf(
  { parts, attempt, workflow }: AskingCall,
  elicitationId: string,
  signal: AbortSignal,
): Promise<QuestionOutcome | null> {
  const { turn, toolCallId } = attempt.input;
  try {
    return await waitForOutcome(parts.storage, { turn, toolCallId, elicitationId }, signal);
  } catch (error) {
    // When the server is gone the question stays open: the call may be retried, and its end closes the question.
    if (signal.reason === 'server_gave_up')
      workflow.update({ elicitationIds: [elicitationId], news: 'server_gave_up' });
    throw error;
  }
}

/** Sends the signals about a call's questions to the activity's workflow, and retries while Temporal is away. */
function workflowOfActivity() {
  const { client, info } = Context.current();
  const stop = stopSignal();
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const workflow = client.workflow.getHandle(workflowId, runId);
  const pending = new Set<Promise<unknown>>();

  async function deliver(send: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        // Without the signal of the activity, which aborts when another attempt replaces this one: the call may continue.
        return await client.withAbortSignal(new AbortController().signal, send);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError || signal.aborted) throw error;
        await sleep(deliverAgainMs, undefined, { signal });
      }
    }
  }

  return {
    asks: (asked: ServerAsks, signal: AbortSignal) =>
      deliver(() => workflow.signal(serverAsks, asked), signal),
    update(update: QuestionUpdate): void {
      const sent = deliver(() => workflow.signal(questionUpdate, update), stop).catch(() => undefined);
      pending.add(sent);
      void sent.then(() => pending.delete(sent));
    },
    updatesSent: () => Promise.all(pending),
  };
}
