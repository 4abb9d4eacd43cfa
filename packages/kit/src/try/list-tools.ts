/** The tools of a server: listed, checked and printed. */
import { styleText } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { asListed, passOddTools } from '@interlude-ai/core/mcp/listed-tools.ts';
import { faultOfHeaders } from '@interlude-ai/core/mcp/parameter-headers.ts';
import { clauses } from '../call/fault.ts';
import { bold, dim, oneLine, plain } from '../terminal/terminal-text.ts';
import type { Connected } from './connect-server.ts';
import { exitCodes, TryError } from './exit-codes.ts';

export function propertiesOf({ properties }: Record<string, unknown>): Record<string, unknown> {
  return isRecord(properties) ? properties : {};
}

export function requiredOf({ required }: Record<string, unknown>): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

const toolSchema = z.looseObject({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()).catch({}),
  outputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
  annotations: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

export type ListedTool = z.infer<typeof toolSchema>;

export interface ToolList {
  tools: ListedTool[];
  /** Sentences about tools that cannot be called. */
  problems: string[];
}

const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  ttlMs: z.number().min(0).catch(0),
  cacheScope: z.enum(['public', 'private']).catch('private'),
});

const mostPages = 100;

/** Throws `TryError` for a server that does not list them. */
export async function listTools(client: Client, options: ListOptions): Promise<ToolList> {
  try {
    return await readList(client, options);
  } catch (cause) {
    options.signal.throwIfAborted();
    const { timeoutMs } = options;
    if (cause instanceof Error && 'code' in cause && cause.code === 'REQUEST_TIMEOUT')
      throw new TryError(
        exitCodes.timeout,
        `It said nothing for ${timeoutMs / 1_000} s when asked for its tools.`,
        {
          cause,
        },
      );
    const { text, url } = clauses.toolList;
    const words = oneLine(cause instanceof Error ? cause.message : String(cause)).slice(0, longestReason);
    throw new TryError(
      exitCodes.fault,
      `It does not list its tools: ${words.replace(/[.:]?$/, '.')}\n  The rule: ${text}.\n  ${url}`,
      { cause },
    );
  }
}

interface ListOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

const longestReason = 300;

async function readList(client: Client, { timeoutMs, signal }: ListOptions): Promise<ToolList> {
  const tools: ListedTool[] = [];
  const problems = new Set<string>();
  const names = new Set<string>();
  const isModern = client.getProtocolEra() === 'modern';
  passOddTools(client);
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
    const { tools: listed, nextCursor } = await client.request(request, pageSchema, {
      timeout: timeoutMs,
      signal,
    });
    for (const one of listed.map(asListed)) {
      const { data } = toolSchema.safeParse(one);
      if (!data) {
        problems.add('A tool without a name is listed.');
        continue;
      }
      if (data.inputSchema['type'] !== 'object')
        problems.add(`${data.name}: its inputSchema is not of "type": "object".`);
      const reason = isModern ? faultOfHeaders(data.inputSchema) : undefined;
      if (reason !== undefined) problems.add(`${data.name}: ${reason}; clients must not call it over HTTP.`);
      if (names.has(data.name)) problems.add(`${data.name}: is listed twice.`);
      else tools.push(data);
      names.add(data.name);
    }
    if (nextCursor === undefined || nextCursor === cursor) break;
    if (page === mostPages - 1) problems.add(`The list has more than ${mostPages} pages.`);
    cursor = nextCursor;
  }
  return { tools, problems: [...problems] };
}

export function serverLine(
  { server, version }: Pick<Connected, 'server' | 'version'>,
  place: string,
): string {
  const name = bold(oneLine(server.title ?? server.name));
  return `  ${name} ${dim(`${oneLine(server.version)} · MCP ${version} · ${plain(place)}`)}`;
}

/** Name, description, arguments and hints. */
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
