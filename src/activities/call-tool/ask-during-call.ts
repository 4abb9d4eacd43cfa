/**
 * CallPaused the user while a server holds the line. The workflow is told by signal what is asked; what became of it is read
 * from the database, where the workflow writes it, so that the content of answers passes through nobody's history.
 */
import { Context } from '@temporalio/activity';
import { tooManyHeldForModel } from '../../elicitation/wording.ts';
import type { AskUser } from '../../remote/ask-user.ts';
import type { QuestionAnswer, RunningCall, ServerQuestion } from '../../remote/input-required.ts';
import type { Storage } from '../../storage/storage.ts';
import { serverAsks, serverNews } from '../../workflows/messages.ts';
import type { ServerNews } from '../../workflows/messages.ts';
import { toCallPaused, toRound } from './rounds.ts';
import type { QuestionOutcome } from '../../turn/ask.ts';
import type { CallRounds, Round } from './rounds.ts';
import type { HeldPlaces } from './held-call-limit.ts';
import { credentialOrNone } from './resolve-credential.ts';
import { tooManyRounds } from './round-limits.ts';
import type { Attempt, CallParts } from './attempt.ts';
import { leaver } from '../stop-signal.ts';

export interface ActivityHold extends AskUser {
  /** Resolves when the workflow has heard everything there was to tell. */
  told(): Promise<unknown>;
  hasAsked(): boolean;
}

const callHasEnded = 'The call has ended.';

/** It has a result already: its question could not be put to the user. */
class CallEnded extends Error {}

interface Parts extends Pick<CallParts, 'storeOf'> {
  storage: Pick<Storage, 'turnLog' | 'elicitations'>;
  rounds: CallRounds;
  heldPlaces: HeldPlaces;
}

export function createHold(
  { storage, rounds, storeOf, heldPlaces }: Parts,
  { input, by, server }: Attempt,
): ActivityHold {
  const { turn, toolCallId } = input;
  // Asked for here: what the server says later is heard outside the activity's own context.
  const { client, info } = Context.current();
  const end = leaver();
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const workflow = client.workflow.getHandle(workflowId, runId);
  const asked = new Map<ServerQuestion, string>();
  const telling = new Set<Promise<unknown>>();
  let open = 0;
  let leave: (() => void) | null = null;
  let taking: Promise<Awaited<ReturnType<typeof roundFor>>> = Promise.resolve('');

  function tell(news: ServerNews): void {
    const sent = workflow.signal(serverNews, news).catch(() => undefined);
    telling.add(sent);
    void sent.then(() => telling.delete(sent));
  }

  /** A call that was begun anew after a crash asks the same again: people see one question, and answer it once. */
  async function roundFor(
    question: ServerQuestion,
    call: RunningCall | undefined,
  ): Promise<{ number: number; round: Round } | string> {
    const before = await rounds.list(turn, toolCallId);
    const number = before.findIndex(({ questions: [one] }) => {
      const isTaken = [...asked.values()].includes(one?.elicitationId ?? '');
      return !isTaken && JSON.stringify(one?.request) === JSON.stringify(question.request);
    });
    const same = before[number];
    if (same) return { number: number + 1, round: same };
    const resume = { kind: 'held' as const, ...(call && { call }) };
    const pause = { questions: [question], resume };
    const excess = tooManyRounds(server, before, pause);
    if (excess !== null) return excess;
    const round = await rounds.keep(turn, toolCallId, before, toRound(pause), by);
    return round ? { number: before.length + 1, round } : callHasEnded;
  }

  async function take(...[question, call]: Parameters<typeof roundFor>): ReturnType<typeof roundFor> {
    const kept = await roundFor(question, call);
    if (typeof kept !== 'string') asked.set(question, kept.round.questions[0]?.elicitationId ?? '');
    return kept;
  }

  /** One place for the call, from its first open question to its last. */
  async function askInPlace(...asking: Parameters<AskUser['ask']>): ReturnType<AskUser['ask']> {
    if (open === 0) leave = heldPlaces.take(end);
    if (!leave) return { kind: 'refused', message: tooManyHeldForModel(server.title) };
    open++;
    try {
      return await ask(...asking);
    } finally {
      if (--open === 0) leave();
    }
  }

  async function ask(...[question, signal, call]: Parameters<AskUser['ask']>): ReturnType<AskUser['ask']> {
    // One after the other: each round has its number.
    taking = taking.then(() => (signal.aborted ? callHasEnded : take(question, call)));
    const kept = await taking;
    if (typeof kept === 'string') return { kind: 'refused', message: kept };
    const { number, round } = kept;
    const elicitationId = asked.get(question) ?? '';
    const { questions } = toCallPaused(round, number);
    await workflow.signal(serverAsks, { toolCallId, round: number, questions });
    const given = await settled(elicitationId, signal).catch((error: unknown) => {
      if (error instanceof CallEnded) return null;
      // With a server that is gone it stays open: the call may be made again, and closes it in the end if it is not.
      if (signal.reason === 'server_gave_up')
        tell({ elicitationIds: [elicitationId], news: 'server_gave_up' });
      throw error;
    });
    if (given === null) return { kind: 'refused', message: callHasEnded };
    const [answer] = await rounds.answersTo(round, [given]);
    const named: QuestionAnswer = { action: 'cancel', ...answer, key: question.key };
    const credential = await credentialOrNone(storeOf(server), server, turn);
    return { kind: 'answer', answer: named, outcome: given.outcome, ...(credential && { credential }) };
  }

  async function settled(elicitationId: string, signal: AbortSignal): Promise<QuestionOutcome> {
    const { turnLog, elicitations } = storage;
    const given = async (): Promise<QuestionOutcome | null> => {
      const row = await elicitations.get(elicitationId);
      // Closed by nobody's answer: the call is about to be stopped, which says more than an answer nobody gave.
      const isAbandoned = row?.status === 'cancel' && row.responseId === null;
      if (!row || row.status === 'pending' || isAbandoned) return null;
      return { elicitationId, outcome: row.status, responseId: row.responseId };
    };
    const from = await turnLog.latest(turn);
    const already = await given();
    if (already) return already;
    for await (const entries of turnLog.follow(turn, from, signal)) {
      const isMeant = entries.some(
        ({ event }) => event.type === 'elicitation-request' && event.elicitationId === elicitationId,
      );
      const now = isMeant ? await given() : null;
      if (now) return now;
      if (entries.some(({ event }) => event.type === 'tool-output-error' && event.toolCallId === toolCallId))
        throw new CallEnded();
    }
    throw signal.reason;
  }

  return {
    ask: askInPlace,
    pageDone(question) {
      const elicitationId = asked.get(question);
      if (elicitationId !== undefined) tell({ elicitationIds: [elicitationId], news: 'page_done' });
    },
    hasAsked: () => asked.size > 0,
    told: () => Promise.all(telling),
  };
}
