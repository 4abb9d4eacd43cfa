/** One request of the 2026-07-28 revision, served by an instance of its own: nothing lives longer than its response. */
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { Caller } from '../tools/tool.ts';
import { callTool } from './call-tool.ts';
import type { CallToolParts } from './call-tool.ts';
import { shownBy } from './caller.ts';
import type { Arrived } from './caller.ts';

export function createModernServer(parts: CallToolParts, arrived: Arrived): Server {
  // The low-level server: the tools are already described, and what is wrong with a request has to stay an error.
  // oxlint-disable-next-line typescript/no-deprecated
  const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
  const callerOf = (ctx: ServerContext): Caller => ({ ...arrived, shows: shownBy(ctx.mcpReq.envelope) });
  server.setRequestHandler('tools/list', (_, ctx) => ({ tools: parts.layer.list(callerOf(ctx)) }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const { name, arguments: given = {} } = params;
    const result = await callTool(parts, {
      caller: callerOf(ctx),
      call: { name, arguments: given, idempotencyKey: arrived.idempotencyKey },
      requestState: ctx.mcpReq.requestState(),
      inputResponses: ctx.mcpReq.inputResponses ?? {},
      signal: arrived.signal,
      onProgress: progressOf(ctx),
    });
    if (result) return result;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}" for this caller.`);
  });
  return server;
}

/** Undefined for a request that did not ask to be told. */
function progressOf({ mcpReq }: ServerContext): ((words: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    // A client that is gone hears of nothing any more.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => undefined);
  };
}

const serverInfo = { name: 'interlude', title: 'Interlude', version: packageJson.version };

const instructions =
  'Agents that may take minutes and may ask the user questions on their way. Each ask_… tool talks to one agent.';
