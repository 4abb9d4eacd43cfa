import { unknownOutcomeForModel } from '../../elicitation/wording.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { stopSignal } from '../stop-signal.ts';
import { abandonHeldCalls } from './abandon-held-calls.ts';
import { finishCall } from './attempt.ts';
import type { Attempt, CallParts } from './attempt.ts';
import { toCallPaused } from './rounds.ts';
import type { Round } from './rounds.ts';

/** What an earlier attempt has come to, if that is how this one ends. `kept`: all rounds of the call. */
export async function endOfEarlierAttempt(
  parts: CallParts,
  attempt: Attempt,
  kept: Round[],
): Promise<AttemptResult | null> {
  const { input, call, server } = attempt;
  const last = kept.at(-1);
  // The earlier attempt was asked this, and its worker died before it said so.
  const wasAsked = last !== undefined && last.resume.kind !== 'held' && kept.length > input.round;
  if (call.state === 'paused' && wasAsked) return toCallPaused(last, kept.length);
  if (call.state !== 'started') return null;
  await abandonHeldCalls(parts, { server, turn: input.turn, signal: stopSignal() }, kept);
  const canResume = kept[input.round - 1]?.resume.kind === 'detached' || last?.resume.kind === 'task';
  if (attempt.isRepeatable || canResume) return null;
  return finishCall(parts, attempt, unknownOutcomeForModel(server.title));
}
