/**
 * How a turn ended, and what it used. The stream of a turn does not say; the conversation's feed does, and has it as
 * soon as the stream ends.
 */
import type { Client } from '../client/client.ts';
import type { TurnView } from '../client/turn-view.ts';
import type { StreamEvent } from '../contract/stream-event.ts';
import type { Finish } from './agent-part.ts';

type TurnEnded = Extract<StreamEvent, { type: 'turn-ended' }>;

export interface TurnEnd {
  /** `lost`: it goes on, and could not be followed any further. */
  status: TurnEnded['status'] | 'unknown' | 'lost';
  usage?: TurnEnded['usage'];
  /** Why its last step ended, when the model did not come to its own end: `length`, `refused`. */
  finish?: string | undefined;
  error?: { code: string; errorText: string };
}

/** What can be said about an end that the feed was not asked about, or did not tell. */
export function seenEnd({ status, errorText }: TurnView): TurnEnd {
  switch (status) {
    case 'completed':
    case 'cancelled':
      return { status };
    case 'failed':
      return { status, error: { code: 'turn_failed', errorText: errorText ?? 'The turn failed.' } };
    case 'running':
    case 'unseen':
      return { status: 'unknown' };
    default:
      return status satisfies never;
  }
}

export async function readEnd(client: Client, view: TurnView, signal: AbortSignal): Promise<TurnEnd> {
  const { conversationId, turnId } = view;
  const after = lastStep(view);
  const end: TurnEnd = seenEnd(view);
  for await (const { event } of client.events(conversationId, {
    signal,
    ...(after !== undefined && { after }),
  })) {
    if (event.turnId !== turnId || event.path !== undefined) continue;
    if (event.type === 'finish-step') end.finish = event.finish;
    if (event.type === 'error') end.error = { code: event.code, errorText: event.errorText };
    if (event.type === 'turn-ended') return { ...end, status: event.status, usage: event.usage };
  }
  return end;
}

/** Where the turn's last step began, so that nothing before it has to be read again. */
function lastStep({ operations }: TurnView): number | undefined {
  const step = operations.findLast(({ type }) => type === 'model_step');
  const seq = /^op-(\d{1,15})$/.exec(step?.id ?? '')?.[1];
  return seq === undefined ? undefined : Number(seq);
}

export function toFinishReason({ status, finish, error }: TurnEnd): Finish['finishReason'] {
  switch (status) {
    case 'completed':
      if (finish === 'length') return { unified: 'length', raw: finish };
      if (finish === 'refused') return { unified: 'content-filter', raw: finish };
      return { unified: 'stop', raw: finish ?? status };
    case 'failed':
      return { unified: 'error', raw: error?.code ?? status };
    case 'lost':
      return { unified: 'error', raw: status };
    case 'cancelled':
    case 'superseded':
    case 'unknown':
      return { unified: 'other', raw: status };
    default:
      return status satisfies never;
  }
}

export function toUsage(usage: TurnEnd['usage']): Finish['usage'] {
  return {
    inputTokens: {
      total: usage?.inputTokens,
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
    },
    outputTokens: { total: usage?.outputTokens, text: undefined, reasoning: undefined },
  };
}
