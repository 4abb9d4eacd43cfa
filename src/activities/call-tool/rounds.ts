/**
 * The rounds of a tool call, as stored between two activities: what the server asked, the ids of its questions, and how the
 * call continues. Sealed, because servers put their own state in.
 */
import { randomUUID } from 'node:crypto';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openRound, sealRound } from '../../credentials/sealing/sealed-values.ts';
import type { InputRequired, QuestionAnswer, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import type { ElicitationRow } from '../../storage/schema/question-tables.ts';
import type { CallAttempt } from '../../storage/tables/call-attempt.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { answerContent } from '../questions.ts';

interface KeptQuestion extends ServerQuestion {
  elicitationId: string;
  /** Answered in an earlier round, and asked again in the same words after the server lost its state. */
  isAnswered?: boolean;
}

export interface Round extends InputRequired {
  questions: KeptQuestion[];
  /** The call was started over, because the server had lost its state. */
  isRestarted?: boolean;
}

export interface CallRounds {
  list(turn: TurnRef, toolCallId: string): Promise<Round[]>;
  /**
   * Stores `next` as the round after `before`. Returns the stored round, which is another one if another process was
   * first; null if the call has ended meanwhile.
   */
  keep(
    turn: TurnRef,
    toolCallId: string,
    before: Round[],
    next: Round,
    by: CallAttempt,
  ): Promise<Round | null>;
  /** What the server gets. MCP has no word for an expired question, so the server gets `cancel`. */
  answersTo(round: Round, questions: ElicitationRow[]): Promise<QuestionAnswer[]>;
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
    answersTo: (round, questions) =>
      Promise.all(
        round.questions.map(async ({ key, elicitationId, request }): Promise<QuestionAnswer> => {
          const question = questions.find(({ id }) => id === elicitationId);
          if (!question || question.status === 'pending' || question.status === 'expired')
            return { key, action: 'cancel' };
          if (question.status !== 'accept') return { key, action: question.status };
          const content = await answerContent({ storage, keys }, question);
          if (!content && request.mode === 'form')
            throw new Error(`The answer to question ${elicitationId} is not in the database.`);
          return { key, action: 'accept', ...(content && { content }) };
        }),
      ),
  };
}

/** False if the round only stores a task that a remote agent began. */
export function hasAsked({ questions, resume }: Round): boolean {
  return questions.length > 0 || resume.kind !== 'task';
}

/** Gives each question its id. */
export function toRound(pause: InputRequired): Round {
  return {
    ...pause,
    questions: pause.questions.map((question) => ({ ...question, elicitationId: randomUUID() })),
  };
}

/**
 * Like `toRound`, after a restart: a question that was asked before in the same words keeps its answer. Only once: a server
 * that asks a third time did not accept the answer.
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

function isSame(one: ServerQuestion, other: ServerQuestion): boolean {
  return one.key === other.key && JSON.stringify(one.request) === JSON.stringify(other.request);
}

/** People may press "done" before the page has noticed, but not three times. */
const maxSamePage = 3;

/** How the call ends because its server keeps asking. Null if the server may ask. */
export function tooManyRounds(
  { title: server, maxRounds }: Pick<ServerConfig, 'title' | 'maxRounds'>,
  before: InputRequired[],
  asked: InputRequired,
): CallFailure | null {
  if (before.length >= maxRounds)
    return { code: 'too_many_rounds', what: 'rounds', limit: maxRounds, server };
  const seen = before.flatMap(pagesIn);
  const isWornOut = (url: string) => seen.filter((one) => one === url).length >= maxSamePage;
  return pagesIn(asked).some(isWornOut)
    ? { code: 'too_many_rounds', what: 'same-page', limit: maxSamePage, server }
    : null;
}

function pagesIn({ questions }: InputRequired): string[] {
  return questions.flatMap(({ request }) => (request.mode === 'url' ? [request.url] : []));
}
