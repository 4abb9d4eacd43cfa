/** How a turn ended, as the editor is told. Pure. */
import type { StopReason } from '@agentclientprotocol/sdk';
import type { StreamEvent } from '../../../contract/stream-event.ts';

export type TurnEnd =
  | { kind: 'stopped'; stopReason: StopReason; words?: string }
  /** It is not over: it waits for a person who cannot be asked in a dialog. */
  | { kind: 'waiting' }
  /** ACP has no reason for this: it is an error of the prompt. */
  | { kind: 'failed'; message: string };

/** Listens to one turn. */
export interface EndListener {
  /** The end, with the event that brings it. */
  hear(event: StreamEvent): TurnEnd | null;
}

export function createEndListener(): EndListener {
  let finish: string | undefined;
  let error: { code: string; errorText: string } | undefined;
  return {
    hear(event) {
      if (event.type === 'turn-ended') return toEnd(event.status, finish, error);
      if (event.path !== undefined) return null;
      if (event.type === 'finish-step') finish = event.finish;
      if (event.type === 'error') error = event;
      return null;
    },
  };
}

type Status = Extract<StreamEvent, { type: 'turn-ended' }>['status'];

function toEnd(
  status: Status,
  finish: string | undefined,
  error: { code: string; errorText: string } | undefined,
): TurnEnd {
  switch (status) {
    case 'completed':
      return { kind: 'stopped', stopReason: finishReasons.get(finish ?? '') ?? 'end_turn' };
    case 'failed':
      return error?.code === 'MaxStepsReached'
        ? { kind: 'stopped', stopReason: 'max_turn_requests', words: error.errorText }
        : { kind: 'failed', message: error?.errorText ?? 'The turn failed. Try again.' };
    case 'cancelled':
      return { kind: 'stopped', stopReason: 'cancelled' };
    case 'superseded':
      return {
        kind: 'stopped',
        stopReason: 'cancelled',
        words: 'A newer message in this conversation has taken the place of this one.',
      };
    default:
      return status satisfies never;
  }
}

const finishReasons = new Map<string, StopReason>([
  ['length', 'max_tokens'],
  ['refused', 'refusal'],
]);
