/** One request of the 2026-07-28 revision, served by an instance of its own: nothing lives longer than its response. */
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { ToolLayer } from '../tools/tool-layer.ts';
import type { Caller } from '../tools/tool.ts';
import { shownBy } from './caller.ts';
import type { Arrived } from './caller.ts';
import { callTool } from './call-tool.ts';

export function createModernServer(layer: ToolLayer, arrived: Arrived): Server {
  // The low-level server: the tools are already described, and what is wrong with a request has to stay an error.
  // oxlint-disable-next-line typescript/no-deprecated
  const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
  const callerOf = (ctx: ServerContext): Caller => ({ ...arrived, shows: shownBy(ctx.mcpReq.envelope) });
  server.setRequestHandler('tools/list', (_, ctx) => ({ tools: layer.list(callerOf(ctx)) }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const call = {
      name: params.name,
      arguments: params.arguments ?? {},
      idempotencyKey: arrived.idempotencyKey,
    };
    const result = await callTool(layer, { caller: callerOf(ctx), call, signal: arrived.signal });
    if (result) return result;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool "${params.name}" for this caller.`,
    );
  });
  return server;
}

const serverInfo = { name: 'interlude', title: 'Interlude', version: packageJson.version };

const instructions =
  'Agents that may take minutes and may ask the user questions on their way. Each ask_… tool talks to one agent.';
