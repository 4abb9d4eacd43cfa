/**
 * The rounds of a tool call, as they are kept between two activities: what the server asked, under which ids people
 * know it, and how the call goes on. Sealed, because servers put their own state in.
 */
import { randomUUID } from 'node:crypto';
import type { ServerConfig } from '../../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openRound, sealRound } from '../../credentials/sealing/sealed-round.ts';
import { tooManyRoundsForModel } from '../../elicitation/wording.ts';
import type { InputRequired, QuestionAnswer, ServerQuestion } from '../../remote/input-required.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { CallAttempt } from '../../storage/ports/tool-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { answerContent } from '../questions/questions.ts';

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
   * Keeps what was asked as the round after `before`. Returns the round that counts, which is another one if another
   * process came first; null when the call has meanwhile ended.
   */
  keep(
    turn: TurnRef,
    toolCallId: string,
    before: Round[],
    next: Round,
    by: CallAttempt,
  ): Promise<Round | null>;
  /** What goes back to the server. MCP has no word for a question that has expired, so the server gets `cancel`. */
  answersTo(round: Round, questions: ElicitationRow[]): Promise<QuestionAnswer[]>;
}

export function createCallRounds({
  storage,
  keys,
}: {
  storage: Pick<Storage, 'toolCalls' | 'elicitations'>;
  keys: KeyRing;
}): CallRounds {
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
 * As `toRound`, after a restart: what was asked before in the same words has its answer already. Only once: a server that
 * asks it yet again was not content with the answer.
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

/** People press "done" before the page has noticed; three times is no coincidence. */
const maxSamePage = 3;

/** Why the call ends here, for the model: its server asks without end. Null when the server may ask. */
export function tooManyRounds(
  { title, maxRounds }: Pick<ServerConfig, 'title' | 'maxRounds'>,
  before: InputRequired[],
  asked: InputRequired,
): string | null {
  if (before.length >= maxRounds) return tooManyRoundsForModel(title, 'rounds', maxRounds);
  const seen = before.flatMap(pagesIn);
  const isWornOut = (url: string) => seen.filter((one) => one === url).length >= maxSamePage;
  return pagesIn(asked).some(isWornOut) ? tooManyRoundsForModel(title, 'same-page', maxSamePage) : null;
}

function pagesIn({ questions }: InputRequired): string[] {
  return questions.flatMap(({ request }) => (request.mode === 'url' ? [request.url] : []));
}
