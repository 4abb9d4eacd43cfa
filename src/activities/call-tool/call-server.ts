/**
 * One round of a tool call: a request goes to the server, and what comes back is a result, a question, or trouble.
 * Nothing is sent twice unless the tool is declared repeatable, or the server certainly did nothing with the first one.
 */
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import {
  interruptedForModel,
  pageNotOpenedForModel,
  unknownOutcomeForModel,
} from '../../elicitation/wording.ts';
import type { InputRequired } from '../../remote/input-required.ts';
import type { Continuation } from '../../remote/tool-call.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import type { McpResult } from '../../turn/tool-result.ts';
import type { Turn } from '../../turn/turn.ts';
import { createHold } from './ask-during-call.ts';
import type { ActivityHold } from './ask-during-call.ts';
import { remarkOnExpired } from './expired-questions.ts';
import { besideCall } from './call-notifications.ts';
import { toCallPaused, toRestartedRound, toRound } from './rounds.ts';
import type { CallRounds, Round } from './rounds.ts';
import type { HeldPlaces } from './held-call-limit.ts';
import { later, mayTryLater } from './retry-later.ts';
import { tooManyRounds } from './round-limits.ts';
import { ask, reject, stillRefused } from './attempt.ts';
import type { Attempt, CallParts } from './attempt.ts';
import { isTurnEnding, isWorkerLeaving, stopSignal } from '../stop-signal.ts';

export interface MakeCallParts extends CallParts {
  storage: Pick<Storage, 'toolCalls' | 'turnLog' | 'elicitations'>;
  rounds: CallRounds;
  heldPlaces: HeldPlaces;
  logger: Logger;
}

/** How often a call that may be repeated is made before its outcome is left unknown. */
const maxAttempts = 3;

/** The call goes on from the last of its rounds. */
export async function makeCall(
  parts: MakeCallParts,
  attempt: Attempt & { tool: string },
  credential: Credential,
  last: Round | undefined,
): Promise<AttemptResult> {
  const { input, by, server, finish } = attempt;
  if (last?.resume.kind !== 'again') return leg(await continuationOf(last), {});

  const pages = new Set(last.questions.map(({ elicitationId }) => elicitationId));
  for (const { elicitationId, outcome } of input.answers)
    if (outcome !== 'accept' && pages.has(elicitationId))
      return finish(pageNotOpenedForModel(outcome, server.title));
  return leg({ resume: last.resume, answers: [] }, {});

  async function continuationOf(round: Round | undefined): Promise<Continuation | undefined> {
    return round && { resume: round.resume, answers: await parts.rounds.answersTo(round, input.answers) };
  }

  async function leg(
    continuation: Continuation | undefined,
    { isRenewed = false, isRestarted = last?.isRestarted === true },
  ): Promise<AttemptResult> {
    const { turn, toolCallId } = input;
    const { toolCalls } = parts.storage;
    const { backoff } = parts.catalogue;
    // Over the network each attempt costs next to nothing, and one connection's trouble is not another's.
    const trouble = server.process && continuation === undefined ? backoff.reason(server) : null;
    if (trouble !== null && attempt.call.state === 'requested')
      return finish(`${trouble} It was tried a moment ago, and not again. The tool did not run.`);
    const isFirst = await toolCalls.start(turn, toolCallId, by);
    // A stream that is taken up again tells what became of the call: nothing is sent twice.
    const canRepeat = attempt.isRepeatable || continuation?.resume.kind === 'detached';
    if (!isFirst && !canRepeat) return finish(unknownOutcomeForModel(server.title));
    const hold = createHold(parts, attempt);
    const beside = besideCall(parts, attempt, credential);
    const outcome = await parts.remote.callTool(server, credential, {
      name: attempt.tool,
      arguments: attempt.call.input as Record<string, unknown>,
      ...(attempt.known && { inputSchema: attempt.known.inputSchema }),
      callId: `${turn.turnId}/${toolCallId}`,
      capabilities: turn.user === null ? cannotAsk : turn.capabilities,
      ...(continuation && { continuation }),
      askUser: hold,
      owner: ownerOf(turn),
      ...beside.listener,
      signal: stopSignal(),
      isHandedOn: isWorkerLeaving,
    });
    await beside.settled();
    await hold.told();
    if (server.process && outcome.kind === 'unreachable') backoff.failed(server, outcome.message);
    if (outcome.kind === 'result') backoff.reached(server);
    switch (outcome.kind) {
      case 'result':
        void parts.catalogue.refresh(turn, server, credential);
        return finish(outcome.result as McpResult, await remark(hold));
      case 'asks':
        return pause(outcome.pause, isRestarted);
      case 'refused': {
        await toolCalls.release(turn, toolCallId, by);
        const next = await reject(parts, attempt, credential, outcome);
        if (next.kind === 'connection-required') return ask(next, attempt);
        // Renewed: once more with that.
        if (isRenewed) return stillRefused(attempt);
        credential = next;
        return leg(continuation, { isRenewed: true, isRestarted });
      }
      case 'unreachable': {
        // Of an earlier attempt that did reach it, nothing is known.
        if (isFirst) await toolCalls.release(turn, toolCallId, by);
        const hasAsked = (await parts.rounds.list(turn, toolCallId)).length > 0;
        if (hasAsked && mayTryLater()) throw notReached(server.title);
        if (!isFirst) return finish(unknownOutcomeForModel(server.title, outcome.message));
        return finish(
          last === undefined || last.resume.kind === 'again'
            ? `${outcome.message} The tool did not run.`
            : interruptedForModel(outcome.message),
        );
      }
      case 'state-expired':
        if (continuation === undefined || isRestarted) return finish(outcome.message);
        await toolCalls.release(turn, toolCallId, by);
        return leg(undefined, { isRenewed, isRestarted: true });
      case 'rejected':
        return finish(outcome.message, await remark(hold));
      case 'unaskable':
        return finish(outcome.message);
      case 'unknown':
        if (continuation?.resume.kind === 'detached' && isWorkerLeaving()) {
          throw ApplicationFailure.retryable(
            `The call to ${server.title} goes on elsewhere.`,
            'WorkerLeaving',
          );
        }
        // A dropped line, a restart on either side: what may be repeated is, by the activity's retry.
        if (attempt.isRepeatable && activityInfo().attempt < maxAttempts && !isTurnEnding()) {
          throw ApplicationFailure.retryable(
            `${server.title} did not answer; the call may be repeated.`,
            'ToolOutcomeUnknown',
          );
        }
        parts.logger.warn(
          { server: server.name, turnId: turn.turnId, toolCallId },
          'outcome of a tool call is unknown',
        );
        return finish(unknownOutcomeForModel(server.title, outcome.message), await remark(hold));
      default:
        return outcome satisfies never;
    }
  }

  async function remark(hold: ActivityHold): Promise<string | undefined> {
    if (last === undefined && !hold.hasAsked()) return undefined;
    const { turn, toolCallId } = input;
    return remarkOnExpired(parts, { turn, toolCallId, title: server.title });
  }

  async function pause(asked: InputRequired, isRestarted: boolean): Promise<AttemptResult> {
    const { turn, toolCallId } = input;
    const before = await parts.rounds.list(turn, toolCallId);
    // What was asked before a restart is not asked again, so it does not count.
    const counting = isRestarted ? before.filter((round) => round.isRestarted) : before;
    const excess = tooManyRounds(server, counting, asked);
    if (excess !== null) {
      const { resume } = asked;
      if (resume.kind === 'detached')
        await parts.remote.cancelCall({ server, credential, signal: stopSignal() }, resume.call);
      return finish(excess);
    }
    const next = isRestarted ? toRestartedRound(asked, before) : toRound(asked);
    const kept = await parts.rounds.keep(turn, toolCallId, before, next, by);
    if (!kept) return { kind: 'finished' };
    const asks = toCallPaused(kept, before.length + 1);
    const isAnswered = kept.questions.length > 0 && asks.questions.length === 0;
    return isAnswered ? leg(await continuationOf(kept), { isRestarted }) : asks;
  }
}

/** Nothing was sent yet, and somebody has answered: a server that is only being restarted is waited for. */
function notReached(title: string): ApplicationFailure {
  return later(`${title} could not be reached; the answers are sent later.`, 'ServerNotReached');
}

/** Whose sessions at servers a call may use. Nobody knows for how many people a service works: it has a conversation's. */
function ownerOf({ tenant, user, conversation }: Turn): string {
  return JSON.stringify(user === null ? { tenant, conversation } : { tenant, user });
}
