/** The result of a call of an author's tool, from the value that it returns or the error that it throws. Pure. */
import { issuesOf } from './tool-code.ts';
import type { SchemaError, ToolCode } from './tool-code.ts';
import type { ToolResult } from './tool-result.ts';

/** Of one value in characters of JSON. Temporal refuses payloads of 2 MiB, and sealing makes them longer. */
const longestJson = 400_000;

export function resultOf(
  { title, output }: Pick<ToolCode, 'output'> & { title: string },
  value: unknown,
): ToolResult {
  const failed = (why: string): ToolResult => ({ kind: 'error', text: `${title} failed: ${why}` });
  if (value === undefined) return text('Done.');
  if (typeof value === 'string' && !output)
    return value.length > longestJson ? failed('its result is too large to be passed on.') : text(value);
  const json = toJson(value);
  if (json.kind === 'problem') return failed(`its result ${json.problem}.`);
  const read = output?.safeParse(value);
  if (read?.success === false)
    return failed(`its result does not match its output schema: ${issuesOf(read.error)}.`);
  const kept = toJson(read ? read.data : value);
  if (kept.kind === 'problem') return failed(`its result ${kept.problem}.`);
  const isObject = typeof kept.value === 'object' && kept.value !== null && !Array.isArray(kept.value);
  return {
    kind: 'output',
    output: {
      content: [{ type: 'text', text: kept.text }],
      // MCP's structured content is an object.
      ...(isObject && { structuredContent: kept.value }),
    },
  };
}

/** The tool was called with arguments that its schema refuses. */
export function misfitOf(title: string, error: SchemaError): ToolResult {
  const text = `${title} did not run, because what it was called with does not match its input schema: ${issuesOf(error)}. Call it again with arguments that do.`;
  return { kind: 'error', text };
}

export function failureOf(title: string, error: unknown): ToolResult {
  const words = wordsOf(error);
  const why = words.length > 4_000 ? `${words.slice(0, 4_000)} …` : words;
  return { kind: 'error', text: `${title} failed: ${why}` };
}

/** Code can throw anything, also a value that does not become a text. */
export function wordsOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error && thrown.message !== '' ? thrown.message : thrown);
  } catch {
    return 'what it threw cannot be put in words';
  }
}

/** As it comes out of a database: dates are texts, and what is undefined is left out. */
export function toJson(
  value: unknown,
): { kind: 'json'; text: string; value: unknown } | { kind: 'problem'; problem: string } {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return { kind: 'problem', problem: `is a ${typeof value}, which is no JSON` };
    if (text.length > longestJson)
      return { kind: 'problem', problem: `is too large (more than ${longestJson / 1000} kB of JSON)` };
    return { kind: 'json', text, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: 'problem', problem: `is no JSON (${error instanceof Error ? error.message : 'unknown'})` };
  }
}

function text(words: string): ToolResult {
  return { kind: 'output', output: { content: [{ type: 'text', text: words }] } };
}
