/**
 * The rounds of a tool call, as they are kept between two activities: what the server asked, under which ids people
 * know it, and how the call goes on. Sealed, because servers put their state in, which is nobody else's business.
 */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openRound, sealRound } from '../../credentials/sealing/sealed-round.ts';
import type { InputRequired, QuestionAnswer, ServerQuestion } from '../../remote/input-required.ts';
import { answerContent } from '../questions/answer-content.ts';
import type { CallAttempt } from '../../storage/ports/tool-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { QuestionOutcome } from '../../turn/ask.ts';
import type { CallPaused } from '../../turn/tool-call.ts';
import type { TurnRef } from '../../turn/turn.ts';

export interface KeptQuestion extends ServerQuestion {
  elicitationId: string;
  /** Answered in an earlier round, and asked again word for word after the server had lost its state. */
  isAnswered?: boolean;
}

export interface Round extends InputRequired {
  questions: KeptQuestion[];
  /** The call was begun anew once, because the server did not know its own state any more. */
  isRestarted?: boolean;
}

export interface CallRounds {
  list(turn: TurnRef, toolCallId: string): Promise<Round[]>;
  /**
   * Keeps what was asked as the round after `before`. Answers with the round that counts, which is another one if
   * another process came first; null when the call has meanwhile ended.
   */
  keep(
    turn: TurnRef,
    toolCallId: string,
    before: Round[],
    next: Round,
    by: CallAttempt,
  ): Promise<Round | null>;
  /** What goes back to the server. Deadlines and ends of questions are for it what a person's "cancel" is. */
  answersTo(round: Round, given: QuestionOutcome[]): Promise<QuestionAnswer[]>;
}

export function createCallRounds({ storage, keys }: { storage: Storage; keys: KeyRing }): CallRounds {
  const { toolCalls } = storage;

  async function list(turn: TurnRef, toolCallId: string): Promise<Round[]> {
    const kept = await toolCalls.rounds(turn, toolCallId);
    const call = { turnId: turn.turnId, toolCallId };
    return kept.map(({ sealed }) => JSON.parse(openRound(keys, call, sealed)) as Round);
  }

  return {
    list,
    async keep(turn, toolCallId, before, next, by) {
      const round = before.length + 1;
      const sealed = sealRound(keys, { turnId: turn.turnId, toolCallId }, JSON.stringify(next));
      const state = next.resume.kind === 'held' || !hasAsked(next) ? 'started' : 'paused';
      if (await toolCalls.keepRound(turn, toolCallId, { round, sealed }, state, by)) return next;
      return (await list(turn, toolCallId))[round - 1] ?? null;
    },
    answersTo: (round, given) =>
      Promise.all(
        round.questions.map(async ({ key, elicitationId, request }): Promise<QuestionAnswer> => {
          const answer = given.find((one) => one.elicitationId === elicitationId);
          const { outcome = 'cancel', responseId = null } = answer ?? {};
          if (outcome !== 'accept') return { key, action: outcome === 'expired' ? 'cancel' : outcome };
          const content = await answerContent({ storage, keys }, elicitationId, responseId);
          if (!content && request.mode === 'form')
            throw new Error(`The answer to question ${elicitationId} is not in the database.`);
          return { key, action: 'accept', ...(content && { content }) };
        }),
      ),
  };
}

/** False of the round that only keeps what a remote agent has begun. A server that wants to be asked again has asked. */
export function hasAsked({ questions, resume }: Round): boolean {
  return questions.length > 0 || resume.kind !== 'task';
}

/** Gives each question the id people will know it by. */
export function toRound(pause: InputRequired): Round {
  return {
    ...pause,
    questions: pause.questions.map((question) => ({ ...question, elicitationId: randomUUID() })),
  };
}

/**
 * As `toRound`, after a restart: what was asked before in the same words has its answer already. Once, that is: a server
 * that asks it yet again was not content with the answer.
 */
export function toRestartedRound(pause: InputRequired, before: Round[]): Round {
  const known = before.flatMap(({ questions }) => questions);
  const round = toRound(pause);
  return {
    ...round,
    isRestarted: true,
    questions: round.questions.map((question) => {
      const same = known.filter((one) => isSame(one, question));
      const [latest] = same.slice(-1);
      const isNew = latest === undefined || same.some(({ isAnswered }) => isAnswered);
      return isNew ? question : { ...question, elicitationId: latest.elicitationId, isAnswered: true };
    }),
  };
}

export function toCallPaused({ questions, resume }: Round, number: number): CallPaused {
  const open = questions.filter(({ isAnswered }) => isAnswered !== true);
  return {
    kind: 'asks',
    round: number,
    questions: open.map(({ elicitationId, request: { mode }, expiresAt }) => ({
      elicitationId,
      mode,
      ...(resume.kind === 'task' && mode === 'url' && { isReported: true as const }),
      ...(expiresAt !== undefined && { expiresAt }),
    })),
    ...(['detached', 'task'].includes(resume.kind) && { isLeftOpen: true }),
  };
}

function isSame(one: ServerQuestion, other: ServerQuestion): boolean {
  return one.key === other.key && JSON.stringify(one.request) === JSON.stringify(other.request);
}
