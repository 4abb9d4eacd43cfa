/**
 * Which tools `interlude lint-server` calls, and with what. MCP has no way for a tool to declare that it asks, so its description
 * decides; tools that may do harm are only called by name.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { UsageError } from '../terminal/command.ts';
import { readGivenFile } from '../try/cassette-file.ts';
import { propertiesOf, requiredOf } from '../try/list-tools.ts';
import type { ListedTool } from '../try/list-tools.ts';

export type Chosen =
  | { kind: 'called'; tool: ListedTool; calls: Record<string, unknown>[] }
  /** `why`: part of a sentence. */
  | { kind: 'left-out'; tool: ListedTool; why: string };

interface Wanted {
  /** From the file of calls. */
  calls: Calls;
  /** Names on the command line; empty for all that say that they ask. */
  named: readonly string[];
  all: boolean;
}

const asking = /\b(?:ask(?:s|ing)?|elicit\w*|confirm\w*|prompts?|approv\w+|user input|interactive\w*)\b/i;

export function chooseTools(tools: readonly ListedTool[], { calls, named, all }: Wanted): Chosen[] {
  return tools.map((tool) => {
    const given = calls.get(tool.name);
    if (given === 'skip') return leftOut(tool, 'the file says so');
    const isNamed = named.includes(tool.name);
    if (named.length > 0 && !isNamed) return leftOut(tool, 'it is not among --tool');
    if (given) return { kind: 'called', tool, calls: given };
    const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
    if (!isNamed && !all && destructiveHint === true) return leftOut(tool, 'it is destructive');
    if (!isNamed && !all && readOnlyHint !== true && !saysThatItAsks(tool))
      return leftOut(tool, 'it does not say that it asks');
    const { input, missing } = exampleOf(tool.inputSchema);
    if (missing.length > 0) return leftOut(tool, `it needs ${missing.join(', ')}`);
    return { kind: 'called', tool, calls: [input] };
  });
}

function leftOut(tool: ListedTool, why: string): Chosen {
  return { kind: 'left-out', tool, why };
}

function saysThatItAsks({ name, title = '', description = '' }: ListedTool): boolean {
  return asking.test(`${name.replaceAll(/[-_.]/g, ' ')} ${title} ${description}`);
}

/** The required arguments, as far as the schema itself has values for them. */
function exampleOf(schema: Record<string, unknown>): { input: Record<string, unknown>; missing: string[] } {
  const properties = propertiesOf(schema);
  const input: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const name of requiredOf(schema)) {
    const value = exampleValue(properties[name]);
    if (value === undefined) missing.push(name);
    else input[name] = value;
  }
  return { input, missing };
}

function exampleValue(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined;
  const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);
  return schema['default'] ?? schema['const'] ?? first(schema['enum']) ?? first(schema['examples']);
}

export type Calls = ReadonlyMap<string, Record<string, unknown>[] | 'skip'>;

/**
 * Reads a file of calls: for each tool its arguments, a list of them, or `skip`. Throws `UsageError` with the file's
 * name and what is wrong in it.
 */
export async function readCallsFile(file: string): Promise<Calls> {
  const { parse } = await import('yaml');
  const given = await readGivenFile(file, (text): unknown => parse(text) ?? {});
  const tools = isRecord(given) ? (given['tools'] ?? {}) : given;
  const surplus = isRecord(given) ? Object.keys(given).find((name) => name !== 'tools') : undefined;
  if (!isRecord(tools) || surplus !== undefined)
    throw new UsageError(`${file}: write "tools:", and below it the arguments of each tool.`);
  return new Map(Object.entries(tools).map(([tool, value]) => [tool, readCalls(file, tool, value)]));
}

function readCalls(file: string, tool: string, value: unknown): Record<string, unknown>[] | 'skip' {
  if (value === 'skip') return 'skip';
  const calls = [value ?? {}].flat();
  if (calls.length === 0 || !calls.every(isRecord))
    throw new UsageError(`${file}: ${tool}: write its arguments, a list of arguments, or skip.`);
  return calls;
}
