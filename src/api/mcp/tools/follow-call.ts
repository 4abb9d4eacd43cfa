/**
 * The stage of a call, derived from the turn's log: read until the turn is over, a question opens or the time is up, or watched
 * as long as a stream is open. Nothing else is stored, so any process can do it.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import type { LogEntry } from '../../../turn/event.ts';
import { emptyTurn, foldTurn, openQuestions } from '../../../turn/fold-turn.ts';
import { operationOf } from '../../../turn/operations.ts';
import type { TurnEndStatus } from '../../../turn/turn.ts';
import { directResult, resultOfTurn } from './call-result.ts';
import { fallbackTool } from './tool.ts';
import type { ToolResult } from './tool.ts';

/** `at`: time of the last event, in epoch milliseconds. */
export type CallStage = { at: number } & (
  | {
      kind: 'done';
      status: TurnEndStatus;
      result: ToolResult;
      /** If the turn was the call of one tool: that tool's own result. */
      direct?: { tool: string; result: ToolResult };
    }
  /** `questions`: open and not answered yet, oldest first. */
  | { kind: 'asks'; questions: Question[]; open: Question[] }
  /** `awaited`: answered, and open until a page is done or an account is connected. */
  | { kind: 'working'; awaited: Question[]; open: Question[] }
);

/** `page`: where the person can answer it, signed in. */
export type Question = ElicitationEvent & { page: string };

export interface Following {
  /** Ends the waiting; the turn goes on. */
  signal: AbortSignal;
  /** How long to wait for a result or a question. */
  holdMs: number;
  /** Open questions that were answered in an earlier request; they are not asked again. */
  answered?: ReadonlySet<string>;
  /** Called with what the turn is doing, in a few words for people. */
  onProgress?: (words: string) => void;
}

export interface Watching {
  signal: AbortSignal;
  /** Called when `stage` may have changed or failed. */
  onNews: () => void;
  onProgress: (words: string) => void;
}

export interface WatchedCall {
  /** `answered`: open questions that are not asked again. */
  stage(answered: ReadonlySet<string>): CallStage;
}

/** Tool calls of one round open their questions one after the other; this gathers them. */
export const gatheringMs = 50;

export async function followCall(
  service: Service,
  turn: OwnTurn,
  { signal, holdMs, answered = new Set(), onProgress }: Following,
): Promise<CallStage> {
  const stop = new AbortController();
  const holding = setTimeout(() => stop.abort(), holdMs);
  let gathering: NodeJS.Timeout | undefined;
  const view = createCallView(service, turn, onProgress);
  try {
    for await (const batch of service.followTurn(turn, { signal: AbortSignal.any([signal, stop.signal]) })) {
      view.add(batch);
      if (view.stage(answered).kind === 'asks') gathering ??= setTimeout(() => stop.abort(), gatheringMs);
      else {
        clearTimeout(gathering);
        gathering = undefined;
      }
    }
  } finally {
    clearTimeout(holding);
    clearTimeout(gathering);
  }
  return view.stage(answered);
}

/** Follows the log until `signal` aborts or the turn is over. */
export function watchCall(
  service: Service,
  turn: OwnTurn,
  { signal, onNews, onProgress }: Watching,
): WatchedCall {
  const view = createCallView(service, turn, onProgress);
  let failure: { error: unknown } | undefined;
  const read = async () => {
    for await (const batch of service.followTurn(turn, { signal })) {
      view.add(batch);
      onNews();
    }
  };
  read().catch((error: unknown) => {
    failure = { error };
    onNews();
  });
  return {
    stage(answered) {
      if (failure) throw failure.error;
      return view.stage(answered);
    },
  };
}

function createCallView(service: Service, turn: OwnTurn, onProgress?: (words: string) => void) {
  let seen = emptyTurn;
  return {
    add(batch: LogEntry[]): void {
      seen = foldTurn(seen, batch);
      if (!onProgress) return;
      for (const entry of batch) {
        const operation = operationOf(entry, '');
        if (operation) onProgress(operation.label);
      }
    },
    stage(answered: ReadonlySet<string>): CallStage {
      const at = seen.at ?? Date.now();
      if (seen.end) {
        const { status } = seen.end;
        const direct = directResult(seen, status);
        const result = resultOfTurn(turn, seen, status);
        return { kind: 'done', at, status, result, ...(direct && { direct }) };
      }
      const open = openQuestions(seen).map((question): Question => ({
        ...question,
        page: service.questionPage(question.elicitationId),
      }));
      const asked = open.filter(({ elicitationId }) => !answered.has(elicitationId));
      return asked.length > 0
        ? { kind: 'asks', at, questions: asked, open }
        : { kind: 'working', at, awaited: open, open };
    },
  };
}

/** A call of the tool itself, or an answer to its question, gets the tool's own result; `wait_for_turn` gets the turn's. */
export function resultFor(
  { direct, result }: Extract<CallStage, { kind: 'done' }>,
  tool: string,
): ToolResult {
  return direct && (direct.tool === tool || tool === fallbackTool) ? direct.result : result;
}
