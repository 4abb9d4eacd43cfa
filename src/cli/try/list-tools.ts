/** The tools of a server as it lists them, and what is wrong with those that cannot be called. */
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { clauses } from '../../testing/call/fault.ts';
import { oneLine } from '../chat/wording.ts';
import { exitCodes, TryError } from './exit-codes.ts';
import { asListed, passOddTools } from '../../remote/mcp/listed-tools.ts';
import { faultOfHeaders } from '../../remote/mcp/modern/parameter-headers.ts';

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
