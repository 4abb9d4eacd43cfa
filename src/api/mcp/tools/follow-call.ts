/**
 * How a call stands: read from the turn's log until it is over, somebody has to be asked, or the time to wait is up; or
 * watched for as long as a stream is open. Nothing is kept for it: the log tells all of it again, at any process.
 */
import type { ElicitationEvent } from '../../../elicitation/elicitation.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import type { LogEntry } from '../../../turn/event.ts';
import type { TurnEndStatus } from '../../../turn/turn.ts';
import { operationOf } from '../../../turn/operations.ts';
import { directResult, resultOfTurn } from './call-result.ts';
import type { ToolResult } from './tool.ts';

/** `at`: when the last thing happened, in epoch milliseconds. */
export type CallStage = { at: number } & (
  | {
      kind: 'done';
      status: TurnEndStatus;
      result: ToolResult;
      /** Of a turn that was the call of one tool: the result as the tool's own. */
      direct?: { tool: string; result: ToolResult };
    }
  /** All that are open and not yet answered, oldest first. */
  | { kind: 'asks'; questions: Question[]; open: Question[] }
  /** `awaited`: questions that were answered and are open until a page or an account is done. */
  | { kind: 'working'; awaited: Question[]; open: Question[] }
);

/** `page`: where the person can answer it, signed in. */
export type Question = ElicitationEvent & { page: string };

export interface Following {
  /** Ends the waiting; the turn goes on. */
  signal: AbortSignal;
  /** How long to wait for the next thing that the caller has to know. */
  holdMs: number;
  /** Questions that were answered in an earlier look: they are not asked again while they are open. */
  answered?: ReadonlySet<string>;
  /** Is told what the turn is doing, in a few words for people. */
  onProgress?: (words: string) => void;
}

export interface Watching {
  signal: AbortSignal;
  /** Is called whenever `stage` may say something else, or fail. */
  onNews: () => void;
  onProgress: (words: string) => void;
}

export interface WatchedCall {
  /** `answered`: questions that are not to be asked again while they are open. */
  stage(answered: ReadonlySet<string>): CallStage;
}

type Parts = Pick<Service, 'followTurn' | 'questionPage'>;

/** Questions of one round are opened one after the other: they are asked together. */
export const gatheringMs = 50;

export async function followCall(
  service: Parts,
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

/** Reads the log once, and then only what is new, until `signal` aborts or the turn is over. */
export function watchCall(
  service: Parts,
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

/** What the entries of a turn, in order, say about it. */
function createCallView(
  service: Pick<Service, 'questionPage'>,
  turn: OwnTurn,
  onProgress?: (words: string) => void,
) {
  const entries: LogEntry[] = [];
  const questions = new Map<string, Question>();
  return {
    add(batch: LogEntry[]): void {
      entries.push(...batch);
      for (const entry of batch) {
        if (entry.event.type === 'elicitation-request') {
          const { elicitationId } = entry.event;
          questions.set(elicitationId, { ...entry.event, page: service.questionPage(elicitationId) });
        }
        const operation = onProgress && operationOf(entry, '');
        if (operation) onProgress(operation.label);
      }
    },
    stage(answered: ReadonlySet<string>): CallStage {
      const last = entries.at(-1);
      const at = last?.at ?? Date.now();
      if (last?.event.type === 'turn-ended') {
        const { status } = last.event;
        const direct = directResult(entries, status);
        const result = resultOfTurn(turn, entries, status);
        return { kind: 'done', at, status, result, ...(direct && { direct }) };
      }
      const open = [...questions.values()].filter(({ status }) => status === 'pending');
      const asked = open.filter(({ elicitationId }) => !answered.has(elicitationId));
      return asked.length > 0
        ? { kind: 'asks', at, questions: asked, open }
        : { kind: 'working', at, awaited: open, open };
    },
  };
}
