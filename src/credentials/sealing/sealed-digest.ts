/** How the digest of what a user is to approve is passed on: sealed, and bound to its tool call. */
import { digestOf } from './canonical-json.ts';
import { SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';

interface Call {
  turnId: string;
  toolCallId: string;
}

export function sealDigest(keys: KeyRing, call: Call, value: unknown): string {
  return keys.seal(digestOf(value), digestContext(call));
}

/** Whether it was sealed here, for this call and this value. */
export function isDigestOf(keys: KeyRing, call: Call, value: unknown, sealed: string): boolean {
  try {
    return keys.open(sealed, digestContext(call)) === digestOf(value);
  } catch (error) {
    if (error instanceof SealingError) return false;
    throw error;
  }
}

function digestContext({ turnId, toolCallId }: Call): string {
  return `approved-call/${turnId}/${toolCallId}`;
}
