/** How the code of tools, and what came of their activities, are kept: sealed, and bound to where they belong. */
import type { KeyRing } from './key-ring.ts';

interface Effect {
  workflowId: string;
  activityId: string;
}

/** Who can write to the database must not be able to run code: what does not open is not run. */
export function sealBundle(keys: KeyRing, hash: string, bundle: string): string {
  return keys.seal(bundle, bundleContext(hash));
}

export function openBundle(keys: KeyRing, hash: string, sealed: string): string {
  return keys.open(sealed, bundleContext(hash));
}

export function sealEffect(keys: KeyRing, effect: Effect, result: string): string {
  return keys.seal(result, effectContext(effect));
}

export function openEffect(keys: KeyRing, effect: Effect, sealed: string): string {
  return keys.open(sealed, effectContext(effect));
}

export function bundleContext(hash: string): string {
  return `tool-bundle/${hash}`;
}

export function effectContext({ workflowId, activityId }: Effect): string {
  return `tool-effect/${workflowId}/${activityId}`;
}
