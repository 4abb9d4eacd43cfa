/**
 * Which tools `interlude lint-server` calls, and with what. MCP has no way for a tool to declare that it asks, so words
 * count; and what may do harm is only called when somebody has named it.
 */
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import type { ListedTool } from '../try/list-tools.ts';
import { propertiesOf, requiredOf } from '../try/tool-arguments.ts';
import type { Calls } from './calls-file.ts';

export type Chosen =
  | { kind: 'called'; tool: ListedTool; calls: Record<string, unknown>[] }
  /** `why`: a part of a sentence. */
  | { kind: 'left-out'; tool: ListedTool; why: string };

interface Wanted {
  /** From the file of calls. */
  calls: Calls;
  /** Names on the command line; none is all that say that they ask. */
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

/** What is required, as far as the schema itself has a value for it. */
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
