/** Stores a server's questions in the middle of a call as the call's next round and opens them, or ends the call. */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Context } from '@interlude-ai/core/elicitation/elicitation.ts';
import { warningsAbout } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { InputRequired } from '@interlude-ai/core/mcp/input-required.ts';
import type { NewPoll } from '../../storage/tables/polls.ts';
import { isTooManyOpen } from '../../turn/ask.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import type { RoundRef } from '../../turn/step.ts';
import { asksOf, openQuestions, serverContext, turnOf } from '../questions.ts';
import type { AskingCall, Question, QuestionParts } from '../questions.ts';
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
  // Questions from before a restart are not asked again, so they do not count.
  const counting = isRestarted ? before.filter((round) => round.isRestarted) : before.filter(hasAsked);
  const next = isRestarted ? toRestartedRound(pause, before) : toRound(pause);
  const excess = tooManyRounds(server, counting, pause);
  if (excess !== null) return giveUp(parts, attempt, next, excess);
  const kept = await rounds.keep(turn, toolCallId, before, next, by);
  return kept ? askRound(parts, attempt, kept, before.length + 1) : { kind: 'finished' };
}

/** Opens the questions of a stored round, in one transaction. */
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

const limitOf = {
  'too-many-open': 'user',
  'too-many-in-turn': 'turn',
  'too-many-in-tenant': 'tenant',
} as const;

export function tooManyQuestions(which: TooManyOpen, server: string): CallFailure {
  return { code: 'too_many_questions', limitOf: limitOf[which], server };
}

function giveUp(parts: CallParts, attempt: Attempt, round: Round, failure: CallFailure): Promise<AttemptEnd> {
  const { input, server } = attempt;
  if (isLeftOpen(round)) void sendAbandoned(parts, input.turn, { server, resume: round.resume });
  return failCall(parts, attempt, 'not_asked', failure);
}

/** Sooner than the timeout of common servers (a minute), and later than most people answer. */
const firstStreamPollMs = 15_000;

/** Signing in on a page takes at least this long. */
const firstPagePollMs = 1_000;

/** The unanswered questions of a round. `number` counts the call's rounds from 1. */
export function questionsOfRound(
  parts: QuestionParts,
  { turn, toolCallId }: AskingCall,
  { server, tool }: { server: ServerConfig; tool: string },
  round: Round,
  number: number,
): Question[] {
  const poll = pollOfRound({ turn, toolCallId, server: server.name, round: number }, round);
  return round.questions.flatMap((question, index) => {
    const { elicitationId: id, request, trigger = 'mcp_elicitation', expiresAt, isAnswered } = question;
    if (isAnswered) return [];
    const warnings = request.mode === 'url' ? warningsAbout(request.url) : [];
    const context: Context = {
      ...serverContext(parts, turn, server),
      trigger,
      // A remote agent is one tool, whose name means nothing to people.
      ...(trigger === 'mcp_elicitation' && { toolName: tool }),
      toolCallId,
      ...(warnings.length > 0 && { warnings }),
    };
    return {
      id,
      place: `round/${turn.turnId}/${toolCallId}/${number}/${index}`,
      request: { ...request, context },
      isReported: isReported(round.resume),
      expiresAt,
      poll,
    };
  });
}

/** Only an agent with the extension reports that its page is done. Others may wait for a message. */
function isReported(resume: Round['resume']): boolean {
  return (
    resume.kind === 'task' &&
    resume.task.asked?.mode === 'url' &&
    resume.task.asked.elicitationId !== undefined
  );
}

/**
 * One poll for all questions of a round. Undefined if polling is useless: the server keeps no state, or its request is
 * still open.
 */
export function pollOfRound(call: RoundRef, { resume }: Round): NewPoll | undefined {
  const id = `${call.turn.turnId}/${call.toolCallId}/${call.round}`;
  const subject = { ...call, turn: turnOf(call.turn) };
  if (resume.kind === 'detached')
    return { id, subject: { kind: 'stream', ...subject }, firstMs: firstStreamPollMs };
  if (resume.kind === 'task')
    return {
      id,
      subject: { kind: 'stream', ...subject },
      firstMs: resume.task.asked?.mode === 'url' ? firstPagePollMs : firstStreamPollMs,
    };
  // A page may be done at any moment.
  if (resume.kind === 'again' && resume.session)
    return { id, subject: { kind: 'pages', ...subject }, firstMs: 0 };
  return undefined;
}
