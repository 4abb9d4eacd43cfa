/** Which tool is called with which arguments: from the command line, or asked at the terminal. */
import { autocomplete } from '@clack/prompts';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { readField } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { isRecord, Unsupported } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { dim, oneLine } from '../terminal/terminal-text.ts';
import { UsageError } from '../terminal/command.ts';
import type { ListedTool } from './list-tools.ts';
import { propertiesOf, requiredOf } from './list-tools.ts';
import { ask, fillForm } from './prompts.ts';
import type { Terminal } from './terminal.ts';

/** Throws `UsageError`. */
export function findTool(tools: readonly ListedTool[], name: string): ListedTool {
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  const names = tools.map((tool) => oneLine(tool.name));
  throw new UsageError(
    `There is no tool "${name}"${didYouMean(name, names)}. There is: ${names.join(', ') || 'none'}.`,
  );
}

/** Null: none. */
export async function chooseTool(
  terminal: Terminal,
  tools: readonly ListedTool[],
  signal: AbortSignal,
): Promise<ListedTool | null> {
  if (tools.length === 0) return null;
  const options = tools.map(({ name }, value) => ({ value, label: oneLine(name) }));
  const none = { value: tools.length, label: 'none' };
  const at = await ask(terminal, 'Call which? Type to search', signal, (shown) =>
    autocomplete({ ...shown, options: [...options, none], maxItems: 12 }),
  );
  return tools[at] ?? null;
}

/** Null: the person decided against it. Given arguments are not asked again. */
export async function fillArguments(
  terminal: Terminal,
  { name, inputSchema }: ListedTool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown> | null> {
  const required = new Set(requiredOf(inputSchema));
  const left = Object.entries(propertiesOf(inputSchema)).filter(([key]) => !Object.hasOwn(given, key));
  const fields = left.map(([key, schema]) => toField(key, schema, required.has(key)));
  if (fields.length === 0) return given;
  terminal.line(dim(`  The arguments of ${oneLine(name)}`));
  const filled = await fillForm(terminal, fields, { signal, isReviewed: true });
  if (filled.kind !== 'filled') return null;
  const isJson = new Set(left.filter(([key, schema]) => !isFlat(key, schema)).map(([key]) => key));
  const content = Object.entries(filled.content).map(([key, value]) => [
    key,
    isJson.has(key) ? fromJson(value) : value,
  ]);
  return { ...given, ...(Object.fromEntries(content) as Record<string, unknown>) };
}

/** Arguments that no form field can hold are written as JSON. */
function toField(name: string, schema: unknown, isRequired: boolean): Field {
  try {
    return readField(name, schema, isRequired);
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return { name, title: name, description: 'as JSON', isRequired, kind: 'text' };
  }
}

function isFlat(name: string, schema: unknown): boolean {
  try {
    readField(name, schema, false);
    return true;
  } catch {
    return false;
  }
}

function fromJson(value: unknown): unknown {
  try {
    return JSON.parse(String(value)) as unknown;
  } catch {
    return value;
  }
}

// Arguments on the command line: JSON, or `key=value`, where the tool's schema decides the type of the value.

type Schema = Record<string, unknown>;

/** Later ones replace earlier ones. Throws `UsageError`. */
export function readToolArguments(given: readonly string[], inputSchema: Schema): Schema {
  return Object.assign({}, ...given.map((text) => readOne(text, inputSchema))) as Schema;
}

function readOne(text: string, inputSchema: Schema): Schema {
  if (text.trimStart().startsWith('{')) return readJson(text);
  const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new UsageError(`--args ${text} is neither a JSON object nor key=value.`);
  return { [key]: readValue(key, value, propertiesOf(inputSchema)) };
}

function readJson(text: string): Schema {
  try {
    // It begins with a brace, so it is an object or invalid.
    return JSON.parse(text) as Schema;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--args is no JSON object: ${why}.`, { cause });
  }
}

function readValue(key: string, text: string, properties: Schema): unknown {
  const schema = properties[key];
  const type: unknown = isRecord(schema) ? schema['type'] : undefined;
  const types = new Set([type].flat());
  if (types.has('string')) return text;
  if ((types.has('number') || types.has('integer')) && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Throws `UsageError` for missing arguments, and for names that are probably misspelt. */
export function checkToolArguments(tool: string, given: Schema, inputSchema: Schema): void {
  const missing = requiredOf(inputSchema).filter((name) => !Object.hasOwn(given, name));
  const known = Object.keys(propertiesOf(inputSchema));
  const unknown = Object.keys(given).find(
    (name) => inputSchema['additionalProperties'] === false && !known.includes(name),
  );
  if (unknown !== undefined)
    throw new UsageError(`${tool} has no argument "${unknown}"${didYouMean(unknown, known)}.`);
  const [first] = missing;
  if (first === undefined) return;
  const near = Object.keys(given).find((name) => !known.includes(name));
  const hint = near === undefined ? '' : `; "${near}" is none of its arguments${didYouMean(near, known)}`;
  throw new UsageError(`${tool} needs --args ${first}=…${hint}.`);
}
