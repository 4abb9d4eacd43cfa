/** Lists the tools of an MCP server, all pages, within bounds. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import type { CatalogueTool } from '../storage/storage.ts';
import { connect, noTimeoutMs, troubleOf } from './connect.ts';
import type { Connection, Refused, Unreachable } from './connect.ts';
import { startDeadline } from './deadline.ts';
import { nameOf } from './trouble.ts';

export type ListOutcome = { kind: 'tools'; tools: CatalogueTool[] } | Refused | Unreachable;

export const listLimits = { tools: 500, bytes: 1024 * 1024 };

const methodNotFound = -32601;

/** Tools are read one by one, so that one malformed definition does not hide the others. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
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
): Promise<ListOutcome> {
  using deadline = startDeadline(server.timeout, signal);
  const target = { server, credential, deadline };
  const connection = await connect(target);
  if (connection.kind !== 'connected') return connection;
  try {
    return { kind: 'tools', tools: await readPages(connection, deadline.signal) };
  } catch (error) {
    // Answered, but with an error: a server without tools, or one that cannot list them.
    if (error instanceof ProtocolError) {
      if (error.code === methodNotFound) return { kind: 'tools', tools: [] };
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

async function readPages({ client }: Connection, signal: AbortSignal): Promise<CatalogueTool[]> {
  const tools: CatalogueTool[] = [];
  let bytes = 0;
  let cursor: string | undefined;
  const seen = new Set<string>();
  do {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
    const page = await client.request(request, pageSchema, { signal, timeout: noTimeoutMs });
    bytes += Buffer.byteLength(JSON.stringify(page.tools));
    tools.push(...page.tools.flatMap(readTool));
    cursor = page.nextCursor;
    if (tools.length > listLimits.tools || bytes > listLimits.bytes) throw new TooManyTools();
    // A cursor that comes back is a server going in circles.
  } while (cursor !== undefined && !seen.has(cursor) && seen.add(cursor).size <= listLimits.tools);
  return tools;
}

function readTool(value: unknown): CatalogueTool[] {
  const parsed = toolSchema.safeParse(value);
  return parsed.success ? [withoutGaps(parsed.data)] : [];
}

/** JSON has no `undefined`; neither do the rows these become. */
function withoutGaps(tool: z.infer<typeof toolSchema>): CatalogueTool {
  return JSON.parse(JSON.stringify(tool)) as CatalogueTool;
}

class TooManyTools extends Error {
  messageFor(server: ServerConfig): string {
    return `${nameOf(server)} lists more than ${listLimits.tools} tools or 1 MB of descriptions, which is more than is read.`;
  }
}
