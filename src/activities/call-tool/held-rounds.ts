/**
 * Stores the questions that a server asks while it keeps the connection of a call open, each as a round of its own. They
 * are stored one after the other, because rounds are numbered.
 */
import type { RunningCall, ServerQuestion } from '../../remote/input-required.ts';
import type { Attempt } from './attempt.ts';
import { tooManyRounds } from './round-limits.ts';
import { toRound } from './rounds.ts';
import type { CallRounds, Round } from './rounds.ts';

export type KeptRound =
  | { kind: 'kept'; elicitationId: string; number: number; round: Round }
  /** A text for the server: why the question is not put to the user. */
  | { kind: 'refused'; message: string };

export interface HeldRounds {
  keep(question: ServerQuestion, call: RunningCall | undefined, signal: AbortSignal): Promise<KeptRound>;
  /** Undefined until the question is stored. */
  elicitationIdOf(question: ServerQuestion): string | undefined;
  areAny(): boolean;
}

export const callHasEnded = { kind: 'refused', message: 'The call has ended.' } as const;

export function createHeldRounds(rounds: CallRounds, { input, by, server }: Attempt): HeldRounds {
  const { turn, toolCallId } = input;
  const idOf = new Map<ServerQuestion, string>();
  let latest: Promise<KeptRound> = Promise.resolve(callHasEnded);

  async function keepNext(question: ServerQuestion, call: RunningCall | undefined): Promise<KeptRound> {
    const before = await rounds.list(turn, toolCallId);
    // A call that is repeated after a crash asks the same again: the stored question is used, so people see it once.
    const index = before.findIndex(({ questions: [one] }) => {
      const isTaken = [...idOf.values()].includes(one?.elicitationId ?? '');
      return !isTaken && JSON.stringify(one?.request) === JSON.stringify(question.request);
    });
    const same = before[index];
    if (same) return kept(question, same, index + 1);
    const pause = { questions: [question], resume: { kind: 'held' as const, ...(call && { call }) } };
    const excess = tooManyRounds(server, before, pause);
    if (excess !== null) return { kind: 'refused', message: excess };
    const round = await rounds.keep(turn, toolCallId, before, toRound(pause), by);
    return round ? kept(question, round, before.length + 1) : callHasEnded;
  }

  function kept(question: ServerQuestion, round: Round, number: number): KeptRound {
    const elicitationId = round.questions[0]?.elicitationId ?? '';
    idOf.set(question, elicitationId);
    return { kind: 'kept', elicitationId, number, round };
  }

  return {
    keep(question, call, signal) {
      latest = latest.then(() => (signal.aborted ? callHasEnded : keepNext(question, call)));
      return latest;
    },
    elicitationIdOf: (question) => idOf.get(question),
    areAny: () => idOf.size > 0,
  };
}
