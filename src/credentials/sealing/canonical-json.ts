import { hash } from 'node:crypto';

/** The same text for the same value, whatever order its keys came in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

/** Equal for equal values. */
export function digestOf(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}
