/** How a target of notifications is kept: its address may be a secret by itself. */
import type { KeyRing } from './key-ring.ts';

export interface PushTarget {
  url: string;
  /** Sent along, for the target to know its own by. */
  token: string;
  /** Null: nothing was agreed on. */
  authentication: { scheme: string; credentials: string } | null;
}

export function sealPushTarget(keys: Pick<KeyRing, 'seal'>, deliveryId: string, target: PushTarget): string {
  return keys.seal(JSON.stringify(target), pushContext(deliveryId));
}

export function openPushTarget(keys: Pick<KeyRing, 'open'>, deliveryId: string, sealed: string): PushTarget {
  return JSON.parse(keys.open(sealed, pushContext(deliveryId))) as PushTarget;
}

export function pushContext(deliveryId: string): string {
  return `push/${deliveryId}`;
}
