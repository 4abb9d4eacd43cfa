/**
 * A tool call of the 2026-07-28 revision. Where somebody has to be asked, or the turn takes its time, the result asks the
 * client to come again with the same call: any process goes on from there, and nothing is kept in between.
 */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { OwnTurn } from '../../../service/own-turn.ts';
import { actorOf } from '../../../service/principal.ts';
import type { Service } from '../../../service/service.ts';
import { workingResult } from '../tools/call-result.ts';
import { pendingResult } from '../tools/fallback.ts';
import type { CallStage, Question } from '../tools/follow-call.ts';
import { resultFor } from '../tools/result-for.ts';
import { isShowable } from '../tools/showable.ts';
import type { ToolLayer } from '../tools/tool-layer.ts';
import type { Caller, ToolCall } from '../tools/tool.ts';
import { toInputRequests, toResponse } from './input-required.ts';
import { InvalidState } from './invalid-state.ts';
import { openState, sealState } from './request-state.ts';
import { createdTask } from './task.ts';
import type { CreatedTask } from './task.ts';

export interface CallToolParts {
  layer: ToolLayer;
  service: Pick<Service, 'sealedText' | 'recordRefusal'>;
}

export interface CalledTool {
  caller: Caller;
  call: ToolCall;
  /** What the client brings along when it comes again. */
  requestState: string | undefined;
  inputResponses: Record<string, unknown>;
  /** Whether the client declared that it takes a task for a result. */
  keepsTasks: boolean;
  signal: AbortSignal;
  onProgress: ((words: string) => void) | undefined;
}

/** A call on its way, as far as it has come. */
interface Running {
  turn: OwnTurn;
  rounds: number;
  answered: Set<string>;
  misfits: Map<string, string>;
  notes: string[];
}

type Result = CallToolResult | InputRequiredResult | CreatedTask;

/**
 * Clients give a request 60 s. The first round is as long as the others: clients in Go give up at the third one that asks
 * nothing.
 */
const requestMs = 50_000;
/** Clients come again ten times by themselves; the last ones are kept for questions. */
const mostIdleRounds = 8;

/** Clients that keep tasks are given one instead of being kept waiting. */
const beforeTaskMs = 500;

/** Null when there is no such tool. */
export async function callTool(parts: CallToolParts, called: CalledTool): Promise<Result | null> {
  const { layer } = parts;
  const { caller, call, requestState, signal, onProgress } = called;
  let running: Running;
  if (requestState === undefined) {
    const started = await layer.start(caller, call);
    if (started === null) return null;
    if (started.kind === 'result') return { ...started.result };
    const { turn, answered = [] } = started;
    running = { turn, rounds: 0, answered: new Set(answered), misfits: new Map(), notes: [] };
  } else running = await goOn(parts, called, requestState);

  const { turn, answered } = running;
  const follow = () =>
    layer.follow(turn, {
      signal,
      holdMs: called.keepsTasks ? beforeTaskMs : requestMs,
      answered,
      ...(onProgress && { onProgress }),
    });
  const stage = await follow();
  // A call that is sent again under its idempotency key asks what it asked before, and may bring the answers along.
  const answeredNow =
    requestState === undefined && stage.kind === 'asks'
      ? stage.questions.filter(isShowable(caller.shows)).map(({ elicitationId }) => elicitationId)
      : [];
  if (!answeredNow.some((elicitationId) => elicitationId in called.inputResponses))
    return toResult(parts, called, running, stage);
  await takeAnswers(parts, called, running, answeredNow);
  return toResult(parts, called, running, await follow());
}

function toResult(
  { service }: CallToolParts,
  { caller, call, keepsTasks }: CalledTool,
  { turn, rounds, answered, misfits, notes }: Running,
  stage: CallStage,
): Result {
  const again = (questions: Question[]) =>
    sealState(
      service,
      { principal: caller.principal, call },
      {
        conversation: turn.conversation,
        turnId: turn.turnId,
        asked: questions.map(({ elicitationId }) => elicitationId),
        answered: [...answered],
        rounds: rounds + 1,
        questions,
      },
    );
  switch (stage.kind) {
    case 'done': {
      const { content, ...rest } = resultFor(stage, call.name);
      return { ...rest, content: [...notes.map((text) => ({ type: 'text' as const, text })), ...content] };
    }
    case 'asks': {
      const shown = stage.questions.filter(isShowable(caller.shows));
      if (shown.length === 0) return { ...pendingResult(turn, stage.questions, misfits) };
      return {
        resultType: 'input_required',
        inputRequests: toInputRequests(shown, misfits),
        requestState: again(shown),
      };
    }
    case 'working': {
      if (keepsTasks) return createdTask(turn, stage.at);
      const isShown = isShowable(caller.shows);
      const unshown = stage.awaited.filter((question) => !isShown(question));
      if (unshown.length > 0) return { ...pendingResult(turn, unshown, notDone(unshown)) };
      if (rounds >= mostIdleRounds) return { ...workingResult(turn) };
      // Go's SDK takes a round without this member for the result.
      return { resultType: 'input_required', inputRequests: {}, requestState: again(stage.awaited) };
    }
    default:
      return stage satisfies never;
  }
}

function notDone(questions: Question[]): Map<string, string> {
  return new Map(
    questions.map(({ elicitationId }) => [elicitationId, 'the user has not finished on the page yet.']),
  );
}

async function goOn(parts: CallToolParts, called: CalledTool, requestState: string): Promise<Running> {
  const { layer, service } = parts;
  const { caller, call } = called;
  const { principal, address } = caller;
  const opened = openState(service, { principal, call }, requestState);
  if (opened.kind === 'refused') {
    const { tenant } = principal;
    const actor = actorOf(principal);
    await service.recordRefusal({ tenant, elicitationId: '', actor, detail: opened.detail, address });
    throw new InvalidState(opened.words);
  }
  const { conversation, turnId, asked, answered, rounds } = opened.state;
  const found = await layer.find(caller, { conversation, turnId });
  if (!found)
    throw new InvalidState('The turn of this requestState is gone. Make the call anew, without it.');
  const { turn } = found;
  const running: Running = { turn, rounds, answered: new Set(answered), misfits: new Map(), notes: [] };
  await takeAnswers(parts, called, running, asked);
  return running;
}

/** What the call brought along for the questions that it asked. */
async function takeAnswers(
  { layer }: CallToolParts,
  { caller, inputResponses }: CalledTool,
  running: Running,
  asked: string[],
): Promise<void> {
  const answers = asked.map(async (elicitationId) => {
    const response = toResponse(inputResponses[elicitationId]);
    if (!response) return;
    const verdict = await layer.answer(caller, running.turn, { elicitationId, response });
    switch (verdict?.kind) {
      case 'awaited':
        running.answered.add(elicitationId);
        break;
      case 'misfit':
        running.misfits.set(elicitationId, verdict.reasons);
        break;
      case 'late':
        running.notes.push(`An answer was not used: ${verdict.words}`);
        break;
      case 'settled':
      case undefined:
        break;
      default:
        verdict satisfies never;
    }
  });
  await Promise.all(answers);
}
