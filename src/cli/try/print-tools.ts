/** The tools of a server, as a person reads them. */
import { styleText } from 'node:util';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { bold, dim, oneLine, plain } from '../chat/wording.ts';
import type { Connected } from './connect-server.ts';
import type { ListedTool } from './list-tools.ts';
import { propertiesOf, requiredOf } from './tool-arguments.ts';

export function serverLine(
  { server, version }: Pick<Connected, 'server' | 'version'>,
  place: string,
): string {
  const name = bold(oneLine(server.title ?? server.name));
  return `  ${name} ${dim(`${oneLine(server.version)} · MCP ${version} · ${plain(place)}`)}`;
}

/** A block for each: its name, what it is for, its arguments, its hints. */
export function toolBlock(tool: ListedTool): string[] {
  const { name, description, title, inputSchema, outputSchema, annotations } = tool;
  const required = new Set(requiredOf(inputSchema));
  const properties = Object.entries(propertiesOf(inputSchema));
  const width = Math.max(0, ...properties.map(([key]) => oneLine(key).length + 1));
  const hints = [...hintsOf(annotations), ...(outputSchema ? ['structured output'] : [])];
  const shownTitle = title !== undefined && title !== name ? ` ${oneLine(title)}` : '';
  return [
    `  ${bold(oneLine(name))}${dim(shownTitle)}${hints.length > 0 ? dim(`  [${hints.join(', ')}]`) : ''}`,
    ...paragraph(description ?? ''),
    ...properties.map(([key, schema]) => {
      const label = `${oneLine(key)}${required.has(key) ? '*' : ''}`.padEnd(width);
      return `      ${styleText('cyan', label)} ${dim(describe(schema))}`;
    }),
  ];
}

const mostLines = 3;

function paragraph(text: string): string[] {
  const lines = plain(text)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const shown = lines
    .slice(0, mostLines)
    .map((line) => `    ${line.length > 110 ? `${line.slice(0, 109)}…` : line}`);
  return lines.length > mostLines ? [...shown, dim('    …')] : shown;
}

function hintsOf(annotations: Record<string, unknown> = {}): string[] {
  const words: [string, boolean, string][] = [
    ['readOnlyHint', true, 'read-only'],
    ['destructiveHint', true, 'destructive'],
    ['idempotentHint', true, 'idempotent'],
    ['openWorldHint', true, 'open world'],
  ];
  return words.flatMap(([hint, value, word]) => (annotations[hint] === value ? [word] : []));
}

/** `whole number, 1 to 30 · Nights`. */
function describe(schema: unknown): string {
  if (!isRecord(schema)) return 'anything';
  const facts = [typeInWords(schema), rangeOf(schema)].filter(Boolean).join(', ');
  const fallback =
    schema['default'] === undefined ? '' : `, ${JSON.stringify(schema['default'])} unless given`;
  const words = typeof schema['description'] === 'string' ? ` · ${schema['description']}` : '';
  const text = oneLine(`${facts}${fallback}${words}`);
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function typeInWords(schema: Record<string, unknown>): string {
  const values = schema['enum'];
  if (Array.isArray(values)) return values.map(String).join(' | ');
  const types = [schema['type'] ?? 'anything'].flat().map(String);
  const names: Record<string, string> = {
    string: 'text',
    integer: 'whole number',
    boolean: 'true | false',
    array: 'list',
  };
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : '';
  return `${types.map((type) => names[type] ?? type).join(' or ')}${format}`;
}

function rangeOf({ minimum, maximum }: Record<string, unknown>): string {
  const [least, most] = [minimum, maximum].map((limit) => (typeof limit === 'number' ? String(limit) : ''));
  if (least && most) return `${least} to ${most}`;
  if (least) return `at least ${least}`;
  return most ? `at most ${most}` : '';
}
