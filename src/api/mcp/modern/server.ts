/** Serves one request of the 2026-07-28 revision: each request has its own server. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import packageJson from '../../../../package.json' with { type: 'json' };
import { readHops } from '../../../turn/turn.ts';
import {
  conversationTemplate,
  listConversations,
  readConversation,
  listPrompts,
  readPrompt,
} from '../resources-and-prompts.ts';
import type { Caller } from '../tools/tool.ts';
import type { McpContext } from '../tools/tool-layer.ts';
import { callTool } from './call-tool.ts';
import { shownBy } from './caller.ts';
import type { Arrived } from './caller.ts';
import { MaskingServer } from './masking-server.ts';
import { serveTasks, keepsTasks, tasksExtension } from './tasks.ts';
import type { CreatedTask } from './tasks.ts';

/** `failed` is called with errors that are our fault. */
export function createModernServer(
  parts: McpContext,
  arrived: Arrived,
  failed: (error: unknown) => void,
): Server {
  const server = new MaskingServer(serverInfo, { capabilities, instructions, failed });
  const callerOf = (ctx: ServerContext): Caller => ({ ...arrived, shows: shownBy(ctx.mcpReq.envelope) });
  server.setRequestHandler('tools/list', async (_, ctx) => ({
    tools: await parts.layer.list(callerOf(ctx)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const { name, arguments: given = {} } = params;
    const result = await callTool(parts, {
      caller: callerOf(ctx),
      call: {
        name,
        arguments: given,
        idempotencyKey: arrived.idempotencyKey,
        hops: readHops(ctx.mcpReq._meta),
        traceParent: ctx.mcpReq._meta?.['traceparent'],
      },
      requestState: ctx.mcpReq.requestState(),
      inputResponses: ctx.mcpReq.inputResponses ?? {},
      keepsTasks: keepsTasks(ctx.mcpReq.envelope),
      signal: arrived.signal,
      onProgress: progressOf(ctx),
    });
    if (result === null)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}" for this caller.`);
    // The SDK's types have no task results; at run time it lets them pass.
    return result as Exclude<typeof result, CreatedTask>;
  });
  serveTasks(server, parts.layer, { callerOf, signal: arrived.signal });
  const { service } = parts;
  const { principal } = arrived;
  const templates = { resourceTemplates: [conversationTemplate] };
  server.setRequestHandler('resources/list', ({ params }) =>
    listConversations(service, principal, params?.cursor),
  );
  server.setRequestHandler('resources/templates/list', () => templates);
  server.setRequestHandler('resources/read', ({ params }) =>
    readConversation(service, principal, params.uri),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(service.agents) }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    readPrompt(service.agents, params.name, params.arguments),
  );
  return server;
}

/** Undefined if the request asked for no progress. */
function progressOf({ mcpReq }: ServerContext): ((words: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => undefined);
  };
}

const serverInfo = { name: 'interlude', title: 'Interlude', version: packageJson.version };

const capabilities = { tools: {}, resources: {}, prompts: {}, extensions: { [tasksExtension]: {} } };

const instructions =
  'Agents that may take minutes and may ask the user questions on their way. Each ask_… tool talks to one agent.';
