/** JSON pointers into a schema (RFC 6901). Nothing is fetched. Pure. */

/** Undefined for what is not there, and for other documents. */
export function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const pointer = decoded(reference.slice(1));
  if (pointer === '') return root;
  if (!pointer?.startsWith('/')) return undefined;
  let value = root;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
