/** How a round of a tool call is kept: sealed, and bound to its call. */
import type { KeyRing } from './key-ring.ts';

interface Call {
  turnId: string;
  toolCallId: string;
}

export function sealRound(keys: KeyRing, call: Call, round: string): string {
  return keys.seal(round, roundContext(call));
}

export function openRound(keys: KeyRing, call: Call, sealed: string): string {
  return keys.open(sealed, roundContext(call));
}

export function roundContext({ turnId, toolCallId }: Call): string {
  return `tool-call-round/${turnId}/${toolCallId}`;
}
