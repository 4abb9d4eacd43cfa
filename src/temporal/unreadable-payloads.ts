/**
 * Whoever may signal or query a workflow can send it a payload that nobody can read. It is read before any handler is
 * called, so that the workflow's task would fail and be retried for ever. For workers such a payload is `null`, which every
 * handler takes for malformed.
 *
 * What belongs to an activity is read as it is. All else that reaches a workflow comes in the same way as signals do: its
 * input, without which it does not begin, as before; and what its children return, without which a child counts as lost.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { SealingError } from '../credentials/sealing/key-ring.ts';

type Context = Parameters<PayloadCodec['decode']>[1];

const nothing = defaultPayloadConverter.toPayload(null);

export function unreadableAsNull(codec: PayloadCodec): PayloadCodec {
  return {
    ...codec,
    decode: (payloads, context) =>
      context?.type === 'workflow'
        ? Promise.all(payloads.map((payload) => readableOrNull(codec, payload, context)))
        : codec.decode(payloads, context),
  };
}

async function readableOrNull(codec: PayloadCodec, payload: Payload, context: Context): Promise<Payload> {
  try {
    const [decoded = nothing] = await codec.decode([payload], context);
    return isReadable(decoded) ? decoded : nothing;
  } catch (error) {
    // A key that is missing may come back, and what it has sealed may be an answer.
    if (error instanceof SealingError && error.code !== 'unknown-key') return nothing;
    throw error;
  }
}

function isReadable(payload: Payload): boolean {
  try {
    defaultPayloadConverter.fromPayload(payload);
    return true;
  } catch {
    return false;
  }
}
