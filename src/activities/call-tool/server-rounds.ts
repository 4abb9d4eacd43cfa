/** A server has asked before it goes on: its questions are kept as the call's next round and opened, or the call ends. */
import { refusalForModel } from '../../elicitation/wording.ts';
import type { InputRequired } from '../../remote/input-required.ts';
import { isTooManyOpen } from '../../turn/ask.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import { asksOf, openQuestions } from '../questions/questions.ts';
import { questionsOfRound } from '../questions/server-question.ts';
import { isLeftOpen, sendAbandoned } from './abandon-call.ts';
import { failCall } from './attempt.ts';
import type { Attempt, AttemptEnd, CallParts } from './attempt.ts';
import { hasAsked, tooManyRounds, toRestartedRound, toRound } from './rounds.ts';
import type { Round } from './rounds.ts';

export async function keepRound(
  parts: CallParts,
  attempt: Attempt,
  { isRestarted }: { isRestarted: boolean },
  pause: InputRequired,
): Promise<AttemptEnd> {
  const { rounds } = parts;
  const { input, by, server } = attempt;
  const { turn, toolCallId } = input;
  const before = await rounds.list(turn, toolCallId);
  // What was asked before a restart is not asked again, so it does not count.
  const counting = isRestarted ? before.filter((round) => round.isRestarted) : before.filter(hasAsked);
  const next = isRestarted ? toRestartedRound(pause, before) : toRound(pause);
  const excess = tooManyRounds(server, counting, pause);
  if (excess !== null) return giveUp(parts, attempt, next, excess);
  const kept = await rounds.keep(turn, toolCallId, before, next, by);
  return kept ? askRound(parts, attempt, kept, before.length + 1) : { kind: 'finished' };
}

/** Opens the questions of a round that is kept, in one transaction. */
export async function askRound(
  parts: CallParts,
  attempt: Attempt,
  round: Round,
  number: number,
): Promise<AttemptEnd> {
  const { input, server, call } = attempt;
  if (round.questions.length === 0) return { kind: 'later' };
  const tool = input.tool ?? call.toolName;
  const questions = questionsOfRound(parts, input, { server, tool }, round, number);
  if (questions.length === 0) return { kind: 'answered' };
  const opened = await openQuestions(parts, input, questions);
  if (isTooManyOpen(opened.kind))
    return giveUp(parts, attempt, round, tooManyQuestions(opened.kind, server.title));
  if (opened.kind !== 'opened') return { kind: 'finished' };
  return asksOf(opened.questions, input.approval) ?? { kind: 'answered' };
}

export function tooManyQuestions(which: TooManyOpen, title: string): string {
  return refusalForModel(
    which === 'too-many-open' ? 'question-too-many' : 'question-too-many-in-turn',
    title,
  );
}

function giveUp(parts: CallParts, attempt: Attempt, round: Round, textForModel: string): Promise<AttemptEnd> {
  const { input, server } = attempt;
  if (isLeftOpen(round)) void sendAbandoned(parts, input.turn, { server, resume: round.resume });
  return failCall(parts, attempt, 'not_asked', textForModel);
}
