/**
 * A tool call of the 2026-07-28 revision. If a person has to be asked, or the turn takes long, the result asks the client to
 * make the same call again; any process can continue it, and nothing is stored in between.
 */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { OwnTurn } from '../../../service/own-turn.ts';
import { actorOf } from '../../../service/principal.ts';
import { workingResult } from '../tools/call-result.ts';
import { pendingResult } from '../tools/fallback.ts';
import { resultFor } from '../tools/follow-call.ts';
import type { CallStage, Question } from '../tools/follow-call.ts';
import { isShowable, toInputRequests, toResponse } from '../tools/questions.ts';
import type { McpContext } from '../tools/tool-layer.ts';
import type { Caller, ToolCall } from '../tools/tool.ts';
import { InvalidState, openState, sealState } from './request-state.ts';
import { createdTask } from './tasks.ts';
import type { CreatedTask } from './tasks.ts';

interface CalledTool {
  caller: Caller;
  call: ToolCall;
  /** From the previous result, when the client calls again. */
  requestState: string | undefined;
  inputResponses: Record<string, unknown>;
  /** The client declared the tasks extension. */
  keepsTasks: boolean;
  signal: AbortSignal;
  onProgress: ((words: string) => void) | undefined;
}

/** A call that has started its turn. */
interface Running {
  turn: OwnTurn;
  rounds: number;
  answered: Set<string>;
  misfits: Map<string, string>;
  notes: string[];
}

type Result = CallToolResult | InputRequiredResult | CreatedTask;

/** Clients give a request 60 s. The first round is as long as the others: Go clients give up at the third that asks nothing. */
const requestMs = 50_000;
/** Clients repeat a call ten times; the last rounds are reserved for questions. */
const mostIdleRounds = 8;

/** Clients that keep tasks get one after this time instead of waiting. */
const beforeTaskMs = 500;

/** Null if there is no such tool. */
export async function callTool(parts: McpContext, called: CalledTool): Promise<Result | null> {
  const { layer } = parts;
  const { caller, call, requestState, signal, onProgress } = called;
  let running: Running;
  if (requestState === undefined) {
    const started = await layer.start(caller, call);
    if (started === null) return null;
    if (started.kind === 'result') return { ...started.result };
    const { turn, answered = [] } = started;
    running = { turn, rounds: 0, answered: new Set(answered), misfits: new Map(), notes: [] };
  } else running = await resume(parts, called, requestState);

  const { turn, answered } = running;
  const follow = () =>
    layer.follow(turn, {
      signal,
      holdMs: called.keepsTasks ? beforeTaskMs : requestMs,
      answered,
      ...(onProgress && { onProgress }),
    });
  const stage = await follow();
  // A call repeated under its idempotency key asks the same questions, and may already carry the answers.
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
  { service }: McpContext,
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

async function resume(parts: McpContext, called: CalledTool, requestState: string): Promise<Running> {
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

/** Takes the answers in this request to the questions of the previous result. */
async function takeAnswers(
  { layer }: McpContext,
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
