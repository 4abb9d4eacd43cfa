/**
 * How a turn ended, and its usage. The stream of a turn does not contain this; the conversation's feed does, as soon as the
 * stream ends. And errors in the SDK's form.
 */
import { APICallError } from '@ai-sdk/provider';
import type { Client } from '../client.ts';
import type { TurnView } from '../turn-view.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import type { Finish } from './parts.ts';
import { InterludeError } from '../interlude-error.ts';

type TurnEnded = Extract<StreamEvent, { type: 'turn-ended' }>;

export interface TurnEnd {
  /** `lost`: it goes on, but could not be followed any further. */
  status: TurnEnded['status'] | 'unknown' | 'lost';
  usage?: TurnEnded['usage'];
  /** Why its last step ended, if not by the model's own end: `length`, `refused`. */
  finish?: string | undefined;
  error?: { code: string; errorText: string };
}

/** The end as far as the view shows it. */
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

/** The position of the turn's last step; earlier events need not be read. */
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

interface Facts {
  message: string;
  statusCode?: number;
  data?: Record<string, unknown>;
  cause?: unknown;
}

export type CallError = (facts: Facts) => APICallError;

/** Never retryable: retries were already made, and a call that the SDK repeats would be another message to the agent. */
export function createCallError(baseUrl: string): CallError {
  const url = `${baseUrl.replace(/\/+$/, '')}/run/api/chat`;
  // Without the request body: errors are logged, and messages must not be.
  return (facts) => new APICallError({ url, requestBodyValues: undefined, isRetryable: false, ...facts });
}

/** Converts a refusal of the service. Other errors, such as those of the consumer's handler, are returned unchanged. */
export function fromRefusal(callError: CallError, error: unknown): unknown {
  if (!(error instanceof InterludeError)) return error;
  const { status, code, detail, errors, turnId } = error;
  return callError({
    message: [detail, ...errors.map((field) => `${field.pointer}: ${field.detail}.`)].join(' '),
    ...(status !== 0 && { statusCode: status }),
    data: { code, errors, ...(turnId !== undefined && { turnId }) },
    cause: error,
  });
}

export function fromFailedTurn(
  callError: CallError,
  { conversationId, turnId }: TurnView,
  { error }: TurnEnd,
): APICallError {
  const { errorText: message = 'The turn failed.', code = 'turn_failed' } = error ?? {};
  return callError({ message, data: { code, conversationId, turnId } });
}
