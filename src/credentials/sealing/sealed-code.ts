/** How workflow code and the results of authors' activities are kept: sealed, and bound to where they belong. */
import type { KeyRing } from './key-ring.ts';

interface Effect {
  workflowId: string;
  activityId: string;
}

/** Write access to the database must not be enough to run code: code that does not open is not run. */
export function sealCode(keys: KeyRing, id: string, code: string): string {
  return keys.seal(code, codeContext(id));
}

export function openCode(keys: KeyRing, id: string, sealed: string): string {
  return keys.open(sealed, codeContext(id));
}

export function sealEffect(keys: KeyRing, effect: Effect, result: string): string {
  return keys.seal(result, effectContext(effect));
}

export function openEffect(keys: KeyRing, effect: Effect, sealed: string): string {
  return keys.open(sealed, effectContext(effect));
}

export function codeContext(id: string): string {
  return `workflow-code/${id}`;
}

export function effectContext({ workflowId, activityId }: Effect): string {
  return `tool-effect/${workflowId}/${activityId}`;
}
