/** What a task shows of its turn, folded from the turn's log entry by entry. Pure. */
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../turn/event.ts';
import { operationOf } from '../turn/operations.ts';
import type { TurnEndStatus } from '../turn/turn.ts';

export interface FoldedTurn {
  /** Of the latest entry, in epoch milliseconds. */
  at: number;
  hasBegun: boolean;
  /** Null while it goes on. */
  end: TurnEndStatus | null;
  step: number;
  /** What the agent says, without what its model took back. */
  blocks: Map<string, { step: number; text: string }>;
  /** Also those of delegated agents. */
  questions: Map<string, ElicitationEvent>;
  /** What it does, in words; undefined until something is known. */
  progress: string | undefined;
  failure: string | undefined;
  /** The model refused to go on. */
  isRefused: boolean;
}

export function unfoldedTurn(createdAt: number, status: 'starting' | 'running' | TurnEndStatus): FoldedTurn {
  return {
    at: createdAt,
    hasBegun: status !== 'starting',
    end: status === 'starting' || status === 'running' ? null : status,
    step: 0,
    blocks: new Map(),
    questions: new Map(),
    progress: undefined,
    failure: undefined,
    isRefused: false,
  };
}

export function foldIn(turn: FoldedTurn, entry: LogEntry): void {
  const { at, event } = entry;
  turn.at = Math.max(turn.at, at);
  turn.hasBegun = true;
  turn.progress = operationOf(entry, '')?.label ?? turn.progress;
  if (event.type === 'elicitation-request') turn.questions.set(event.elicitationId, event);
  // What delegated agents say is for the agent that asked them.
  if (event.path === undefined) foldInOwn(turn, event);
}

function foldInOwn(turn: FoldedTurn, event: TurnEvent): void {
  switch (event.type) {
    case 'start-step':
      turn.step = event.step;
      break;
    case 'text-delta': {
      const block = turn.blocks.get(event.id) ?? { step: turn.step, text: '' };
      turn.blocks.set(event.id, { ...block, text: block.text + event.delta });
      break;
    }
    case 'reset-step':
      for (const [id, { step }] of turn.blocks) if (step === event.step) turn.blocks.delete(id);
      break;
    case 'finish-step':
      turn.isRefused = event.finish === 'refused';
      break;
    case 'error':
      turn.failure = event.errorText;
      break;
    case 'turn-ended':
      turn.end = event.status;
      break;
    default:
  }
}

export function answerIn({ blocks }: FoldedTurn): string {
  return [...blocks.values()]
    .map(({ text }) => text)
    .join('\n\n')
    .trim();
}

/** Oldest first. */
export function openIn({ questions }: FoldedTurn): ElicitationEvent[] {
  return [...questions.values()].filter(({ status }) => status === 'pending');
}
