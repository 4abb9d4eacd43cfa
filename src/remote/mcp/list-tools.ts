/** Lists the tools of an MCP server, all pages, within limits. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import type { CatalogueTool, ToolList } from '../../storage/ports/tool-catalogue.ts';
import type { CallListener } from '../call-listener.ts';
import { startDeadline } from '../deadline.ts';
import type { LeftOut, Listed, ListOutcome } from '../remote-servers.ts';
import { nameOf } from '../server-name.ts';
import { connect, connectFailureOf } from './connect.ts';
import { noTimeoutMs } from './connection.ts';
import type { Connection } from './connection.ts';
import { asListed, passOddTools } from './listed-tools.ts';
import { leaveOut, readTool } from './read-tool.ts';
import type { ServerEras } from './server-eras.ts';

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
    // Answered, but with an error: a server without tools, or one that cannot list them.
    if (error instanceof ProtocolError) {
      if (error.code === methodNotFound) return { kind: 'tools', tools: [], leftOut: [], ...unstated };
      return {
        kind: 'unreachable',
        message: `${nameOf(server)} cannot list its tools (error ${error.code}).`,
      };
    }
    if (error instanceof TooManyTools) return { kind: 'unreachable', message: error.messageFor(server) };
    return connectFailureOf(operation, connection.exchanges);
  } finally {
    connection.close();
  }
}

/** Older servers do not state who may be shown their list, and for how long. */
const unstated: Pick<ToolList, 'audience' | 'freshMs'> = { audience: 'tenant', freshMs: null };

/** A server that would notify us of changes does so where nobody listens, unless a call is just under way. */
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
    // A cursor that comes back is an endless list.
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

class TooManyTools extends Error {
  messageFor(server: ServerConfig): string {
    return `${nameOf(server)} lists more than ${listLimits.tools} tools, 1 MB of descriptions or ${listLimits.pages} pages, which is more than is read.`;
  }
}
