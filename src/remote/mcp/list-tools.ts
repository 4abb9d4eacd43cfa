/** Lists the tools of an MCP server, all pages, within bounds. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import type { CatalogueTool, ToolList } from '../../storage/ports/tool-catalogue.ts';
import { connect, noTimeoutMs, troubleOf } from './connect.ts';
import type { Connection, Refused, Unreachable } from './connect.ts';
import { startDeadline } from '../deadline.ts';
import type { Listener } from './notifications.ts';
import { faultOfHeaders } from './modern/parameter-headers.ts';
import { nameOf } from './failure-message.ts';

/** A tool that its server lists and that must not or cannot be called. `reason` is for the author of the server. */
export interface LeftOut {
  tool: string;
  reason: string;
}

export interface Listed extends ToolList {
  kind: 'tools';
  leftOut: LeftOut[];
}

export type ListOutcome = Listed | Refused | Unreachable;

export const listLimits = { tools: 500, bytes: 1024 * 1024, pages: 100 };

/** Some servers list tools that ask only to clients that can be asked. What is listed is for all callers. */
const canAsk = { form: true, url: true };

const methodNotFound = -32601;

/** Tools are read one by one, so that one malformed definition does not hide the others. */
const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  /** Of the new era, where the SDK insists on both. */
  ttlMs: z.number().min(0).catch(0),
  cacheScope: z.enum(['public', 'private']).catch('private'),
});
const hint = z.boolean().optional().catch(undefined);
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .object({ readOnlyHint: hint, idempotentHint: hint, destructiveHint: hint })
    .optional()
    .catch(undefined),
});

export async function listServerTools(
  server: ServerConfig,
  credential: Credential,
  signal: AbortSignal,
  { onReport }: Pick<Listener, 'onReport'> = {},
): Promise<ListOutcome> {
  using deadline = startDeadline(server.timeout, signal);
  const target = { server, credential, deadline, capabilities: canAsk, isQuiet: true, onReport };
  const connection = await connect(target);
  if (connection.kind !== 'connected') return connection;
  try {
    return await readPages(connection, deadline.signal);
  } catch (error) {
    // Answered, but with an error: a server without tools, or one that cannot list them.
    if (error instanceof ProtocolError) {
      if (error.code === methodNotFound) return { kind: 'tools', tools: [], leftOut: [], ...unsaid };
      return {
        kind: 'unreachable',
        message: `${nameOf(server)} cannot list its tools (error ${error.code}).`,
      };
    }
    if (error instanceof TooManyTools) return { kind: 'unreachable', message: error.messageFor(server) };
    return troubleOf(target, connection.wire);
  } finally {
    connection.close();
  }
}

/** Older servers say nothing about who may be shown their list, and for how long. */
const unsaid: Pick<ToolList, 'audience' | 'freshMs'> = { audience: 'tenant', freshMs: null };

/** One that would tell us of changes does so where nobody listens, unless a call is just under way. */
const changeableMs = 60_000;

async function readPages({ client }: Connection, signal: AbortSignal): Promise<Listed> {
  const tools: CatalogueTool[] = [];
  const leftOut: LeftOut[] = [];
  const isModern = client.getProtocolEra() === 'modern';
  const readTool = toolReader(isModern);
  let { audience, freshMs } = unsaid;
  if (!isModern && client.getServerCapabilities()?.tools?.listChanged === true) freshMs = changeableMs;
  const names = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  const seen = new Set<string>();
  do {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
    const page = await client.request(request, pageSchema, { signal, timeout: noTimeoutMs });
    bytes += Buffer.byteLength(JSON.stringify(page.tools));
    for (const read of page.tools.map(readTool)) {
      if ('reason' in read) leftOut.push(read);
      else if (names.has(read.name)) leftOut.push(leaveOut(read, 'another tool has the same name'));
      else tools.push(read);
      if ('name' in read) names.add(read.name);
    }
    if (isModern) {
      if (page.cacheScope === 'private') audience = 'user';
      freshMs = Math.min(freshMs ?? Infinity, page.ttlMs);
    }
    cursor = page.nextCursor;
    const isTooMuch = tools.length + leftOut.length > listLimits.tools || bytes > listLimits.bytes;
    if (isTooMuch || seen.size === listLimits.pages) throw new TooManyTools();
    // A cursor that comes back is a server going in circles.
  } while (cursor !== undefined && !seen.has(cursor) && seen.add(cursor));
  return { kind: 'tools', tools, leftOut, audience, freshMs };
}

/** What MCP recommends (2025-11-25, tool names), and the slash. People read the name on our pages: it must be no sentence. */
const toolName = /^[A-Za-z0-9_./-]{1,128}$/;
const unreadableName = 'its name is not 1 to 128 letters, digits and _ . / -';

/** Older servers know nothing of headers for arguments, so there the marks mean nothing. */
function toolReader(hasHeaders: boolean): (value: unknown) => CatalogueTool | LeftOut {
  return (value) => {
    const { data } = toolSchema.safeParse(value);
    if (!data) return leaveOut(value, 'its definition cannot be read');
    if (!toolName.test(data.name)) return leaveOut(value, unreadableName);
    const reason = hasHeaders ? faultOfHeaders(data.inputSchema) : undefined;
    return reason === undefined ? withoutGaps(data) : leaveOut(data, reason);
  };
}

function leaveOut(tool: unknown, reason: string): LeftOut {
  const { data } = z.object({ name: z.string().min(1) }).safeParse(tool);
  return { tool: data?.name.slice(0, 128) ?? '(without a name)', reason: reason.slice(0, 256) };
}

/** JSON has no `undefined`; neither do the rows these become. */
function withoutGaps(tool: z.infer<typeof toolSchema>): CatalogueTool {
  return JSON.parse(JSON.stringify(tool)) as CatalogueTool;
}

class TooManyTools extends Error {
  messageFor(server: ServerConfig): string {
    return `${nameOf(server)} lists more than ${listLimits.tools} tools, 1 MB of descriptions or ${listLimits.pages} pages, which is more than is read.`;
  }
}
