/** Suggests the form that fits a tool, from its source: `execute` if it asks nothing and has no activities, otherwise `run`. */

/** Null if the form fits, or if the source does not show it. */
export function formHint({ run, execute }: Record<string, unknown>): string | null {
  if (typeof run === 'function' && usesNeither(run))
    return 'never uses elicit or activities: execute(input, context) fits, and is faster than run';
  if (typeof execute === 'function' && takesThem(execute))
    return 'takes elicit or activities, which execute is not given: write run(input, context)';
  return null;
}

const asking = /\b(?:elicit|activities)\b/;

function usesNeither(run: object): boolean {
  const source = sourceOf(run);
  // Its parameters cannot be read.
  if (/\[native code\]|\barguments\b/.test(source) || /^[^(]*\(\s*\.\.\./.test(source)) return false;
  const context = secondParameter(source);
  if (context === '') return true;
  // A context that has a name, as a whole or in part (`...rest`), may be passed on.
  return context.startsWith('{') && !context.includes('...') && !asking.test(context);
}

function takesThem(execute: object): boolean {
  const source = sourceOf(execute);
  const context = secondParameter(source);
  if (context.startsWith('{')) return asking.test(context);
  const name = /^[\w$]+/.exec(context)?.[0];
  return (
    name !== undefined &&
    new RegExp(`\\b${name.replaceAll('$', '\\$')}\\.(?:elicit|activities)\\b`).test(source)
  );
}

function sourceOf(code: object): string {
  return Function.prototype.toString.call(code);
}

/** Empty if there is none. */
function secondParameter(source: string): string {
  const start = source.indexOf('(') + 1;
  let depth = 0;
  let comma = -1;
  for (let at = start; at < source.length; at++) {
    const character = source.charAt(at);
    if ('([{'.includes(character)) depth++;
    else if (character === ',' && depth === 0 && comma < 0) comma = at;
    else if (')]}'.includes(character) && depth-- === 0)
      return comma < 0 ? '' : source.slice(comma + 1, at).trim();
  }
  return '';
}
