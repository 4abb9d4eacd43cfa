/** A server has asked before it goes on: its questions are kept as the call's next round, or the call ends. */
import type { InputRequired } from '../../remote/input-required.ts';
import type { Continuation } from '../../remote/tool-call.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { stopSignal } from '../stop-signal.ts';
import { finishCall } from './attempt.ts';
import type { CallServerParts, ServerAttempt, ToolRequest } from './attempt.ts';
import { tooManyRounds } from './round-limits.ts';
import { hasAsked, toCallPaused, toRestartedRound, toRound } from './rounds.ts';

/** `answered`: all that was asked has its answer from before the call was begun anew, so that it goes on at once. */
export async function keepPause(
  parts: CallServerParts,
  attempt: ServerAttempt,
  { credential, isRestarted }: ToolRequest,
  pause: InputRequired,
): Promise<AttemptResult | { kind: 'answered'; continuation: Continuation }> {
  const { rounds, remote } = parts;
  const { input, by, server } = attempt;
  const { turn, toolCallId } = input;
  const before = await rounds.list(turn, toolCallId);
  // What was asked before a restart is not asked again, so it does not count.
  const counting = isRestarted ? before.filter((round) => round.isRestarted) : before.filter(hasAsked);
  const excess = tooManyRounds(server, counting, pause);
  if (excess !== null) {
    const { resume } = pause;
    if (resume.kind === 'detached' || resume.kind === 'task')
      await remote.cancelCall({ server, credential, signal: stopSignal() }, resume).catch(() => undefined);
    return finishCall(parts, attempt, excess);
  }
  const next = isRestarted ? toRestartedRound(pause, before) : toRound(pause);
  const kept = await rounds.keep(turn, toolCallId, before, next, by);
  if (!kept) return { kind: 'finished' };
  const paused = toCallPaused(kept, before.length + 1);
  const isAnswered = kept.questions.length > 0 && paused.questions.length === 0;
  if (!isAnswered) return paused;
  const answers = await rounds.answersTo(kept, input.answers);
  return { kind: 'answered', continuation: { resume: kept.resume, answers } };
}
