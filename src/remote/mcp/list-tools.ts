/**
 * Lists the tools of an MCP server, all pages, within limits. A tool that must not or cannot be called is left out, with a
 * reason for its author.
 */
import { ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { passOddTools, asListed } from '@interlude-ai/core/mcp/listed-tools.ts';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import type { CatalogueTool, ToolList } from '../../storage/schema/account-tables.ts';
import type { CallListener, LeftOut, Listed, ListOutcome } from '../remote-servers.ts';
import { startDeadline } from '../deadline.ts';
import { outcomeWith } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import { connect, connectFailureOf } from './connect.ts';
import { noTimeoutMs } from './connection.ts';
import type { Connection } from './connection.ts';
import type { ServerEras } from './server-eras.ts';
import { faultOfHeaders } from '@interlude-ai/core/mcp/parameter-headers.ts';

export const listLimits = { tools: 500, bytes: 1024 * 1024, pages: 100 };

/** Some servers list tools that ask only to clients that support it. The list is for all callers. */
const canAsk = { form: true, url: true };

const methodNotFound = -32601;

/** Tools are validated one by one, so that one malformed definition does not hide the others. */
const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  /** Only in the new era, in which the SDK requires both. */
  ttlMs: z.number().min(0).catch(0),
  cacheScope: z.enum(['public', 'private']).catch('private'),
});

interface Options extends Pick<CallListener, 'onProcessExit'> {
  eras: ServerEras;
}

export async function listServerTools(
  server: ServerConfig,
  credential: Credential,
  signal: AbortSignal,
  { eras, onProcessExit }: Options,
): Promise<ListOutcome> {
  using deadline = startDeadline(server.timeout, signal);
  const operation = { server, credential, deadline, eras, onProcessExit };
  const connection = await connect({ ...operation, capabilities: canAsk, makesNoCalls: true });
  if (connection.kind !== 'connected') return connection;
  try {
    return await readPages(connection, deadline.signal);
  } catch (error) {
    // An error answer: the server has no tools, or cannot list them.
    if (error instanceof ProtocolError) {
      if (error.code === methodNotFound) return { kind: 'tools', tools: [], leftOut: [], ...unstated };
      const trouble = { code: 'tools_not_listed', server: nameOf(server), error: error.code } as const;
      return outcomeWith('unreachable', trouble);
    }
    if (error instanceof TooManyTools) {
      const { tools, pages } = listLimits;
      return outcomeWith('unreachable', { code: 'too_many_tools', server: nameOf(server), tools, pages });
    }
    return connectFailureOf(operation, connection.exchanges);
  } finally {
    connection.close();
  }
}

/** Older servers state neither. */
const unstated: Pick<ToolList, 'audience' | 'freshMs'> = { audience: 'tenant', freshMs: null };

/** For servers that announce changes: their notifications only arrive during a call. */
const changeableMs = 60_000;

async function readPages({ client }: Connection, signal: AbortSignal): Promise<Listed> {
  const isModern = client.getProtocolEra() === 'modern';
  const list = createToolList(isModern);
  let { audience, freshMs } = unstated;
  if (!isModern && client.getServerCapabilities()?.tools?.listChanged === true) freshMs = changeableMs;
  passOddTools(client);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
    const page = await client.request(request, pageSchema, { signal, timeout: noTimeoutMs });
    list.add(page.tools);
    if (isModern) {
      if (page.cacheScope === 'private') audience = 'user';
      freshMs = Math.min(freshMs ?? Infinity, page.ttlMs);
    }
    cursor = page.nextCursor;
    if (list.isTooLong() || cursors.size === listLimits.pages) throw new TooManyTools();
    // A repeated cursor means an endless list.
  } while (cursor !== undefined && !cursors.has(cursor) && cursors.add(cursor));
  return { kind: 'tools', tools: list.tools, leftOut: list.leftOut, audience, freshMs };
}

function createToolList(hasHeaders: boolean) {
  const tools: CatalogueTool[] = [];
  const leftOut: LeftOut[] = [];
  const names = new Set<string>();
  let bytes = 0;
  return {
    tools,
    leftOut,
    add(page: unknown[]) {
      bytes += Buffer.byteLength(JSON.stringify(page));
      for (const value of page) {
        const read = readTool(asListed(value), hasHeaders);
        if ('reason' in read) leftOut.push(read);
        else if (names.has(read.name)) leftOut.push(leaveOut(read, 'another tool has the same name'));
        else tools.push(read);
        if ('name' in read) names.add(read.name);
      }
    },
    isTooLong: () => tools.length + leftOut.length > listLimits.tools || bytes > listLimits.bytes,
  };
}

class TooManyTools extends Error {}

const hint = z.boolean().optional().catch(undefined);
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  /** Not validated: it is converted for the model, and the server checks the arguments. */
  inputSchema: z
    .looseObject({})
    .nullish()
    .transform((schema) => schema ?? { type: 'object' }),
  annotations: z
    .object({ readOnlyHint: hint, idempotentHint: hint, destructiveHint: hint })
    .optional()
    .catch(undefined),
});

/** The names that MCP recommends (2025-11-25), and the slash. Names are shown to users, so sentences are not allowed. */
const toolName = /^[A-Za-z0-9_./-]{1,128}$/;
const unreadableName = 'its name is not 1 to 128 letters, digits and _ . / -';

/** `hasHeaders`: in the new era. Before, `x-mcp-header` had no meaning. */
export function readTool(value: unknown, hasHeaders: boolean): CatalogueTool | LeftOut {
  const { data, error } = toolSchema.safeParse(value);
  if (!data)
    return leaveOut(
      value,
      `its definition has no usable "${error.issues[0]?.path[0]?.toString() ?? 'name'}"`,
    );
  if (!toolName.test(data.name)) return leaveOut(value, unreadableName);
  const { type = 'object' } = data.inputSchema;
  if (type !== null && ![type].flat().includes('object'))
    return leaveOut(
      value,
      `its inputSchema is of type ${JSON.stringify(type).slice(0, 40)}, and arguments are an object`,
    );
  const reason = hasHeaders ? faultOfHeaders(data.inputSchema) : undefined;
  return reason === undefined ? withoutUndefined(data) : leaveOut(data, reason);
}

function leaveOut(tool: unknown, reason: string): LeftOut {
  const { data } = z.object({ name: z.string().min(1) }).safeParse(tool);
  return { tool: data?.name.slice(0, 128) ?? '(without a name)', reason: reason.slice(0, 256) };
}

/** Removes members that are undefined, which rows do not contain. */
function withoutUndefined(tool: z.infer<typeof toolSchema>): CatalogueTool {
  return JSON.parse(JSON.stringify(tool)) as CatalogueTool;
}
