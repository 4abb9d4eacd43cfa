/** Which tool is called with what, where the command line leaves it open and somebody sits at the terminal. */
import { didYouMean } from '../../config/nearest-spelling.ts';
import type { Field } from '../../elicitation/form/field.ts';
import { readField } from '../../elicitation/form/read-field.ts';
import { Unsupported } from '../../elicitation/form/schema-keywords.ts';
import { dim, oneLine, promptLabel } from '../chat/wording.ts';
import { UsageError } from '../command.ts';
import { fillForm } from './fill-form.ts';
import type { ListedTool } from './list-tools.ts';
import type { Terminal } from './terminal.ts';
import { problemLine } from '../chat/form-wording.ts';
import { propertiesOf, requiredOf } from './tool-arguments.ts';

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
  for (;;) {
    const typed = await terminal.ask(`  ${promptLabel('Call which? [none]')}`, signal);
    const word = typed?.trim() ?? '';
    if (word === '') return null;
    const byNumber = /^\d+$/.test(word) ? tools[Number(word) - 1] : undefined;
    const tool = byNumber ?? tools.find(({ name }) => name === word);
    if (tool) return tool;
    terminal.line(problemLine(`There is no “${word}”. Write its name, or its number in the list.`));
  }
}

/** Null: not called after all. What the command line has given is not asked again. */
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
  terminal.line(dim(`  The arguments of ${oneLine(name)}; - leaves out what is optional, /n calls nothing.`));
  const filled = await fillForm(terminal, fields, signal);
  if (filled.kind !== 'filled') return null;
  const isJson = new Set(left.filter(([key, schema]) => !isFlat(key, schema)).map(([key]) => key));
  const content = Object.entries(filled.content).map(([key, value]) => [
    key,
    isJson.has(key) ? fromJson(value) : value,
  ]);
  return { ...given, ...(Object.fromEntries(content) as Record<string, unknown>) };
}

/** What is no field of a form is written as JSON. */
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
