/** An MCP server of the v2 SDK whose tools report progress and change the list of tools. */
import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import type { EventStore, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text } from './asking-tools.ts';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

export interface ChangingToolsServer extends TestMcpServer {
  /** Lets the tool `import` go on to its next notice, or to its end. */
  go(): void;
}

export async function startChangingToolsServer(
  era: 'modern' | 'legacy',
  eventStore?: EventStore,
): Promise<ChangingToolsServer> {
  let isUnlocked = false;
  const steps: (() => void)[] = [];
  let allowed = 0;
  const next = () => (allowed > 0 ? void allowed-- : new Promise<void>((resolve) => steps.push(resolve)));

  const report = async (context: ServerContext, progress: object) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) throw new Error('the call has no progress token');
    await context.mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, ...progress } as { progressToken: string; progress: number },
    });
  };

  function build(): McpServer {
    const server = new McpServer({ name: 'changing-tools', version: '1' });
    server.registerTool(
      'import',
      { inputSchema: z.object({ notices: z.array(z.looseObject({})), pause: z.boolean().default(false) }) },
      async ({ notices, pause }, context) => {
        for (const notice of notices) {
          await report(context, notice);
          if (pause) await next();
        }
        return text(`imported ${notices.length}`);
      },
    );
    server.registerTool('unlock', { inputSchema: z.object({}) }, async (_, context) => {
      isUnlocked = true;
      await context.mcpReq.notify({ method: 'notifications/tools/list_changed' });
      return text('unlocked');
    });
    server.registerTool('confirm', { inputSchema: z.object({}) }, async (_, context) => {
      const { inputResponses } = context.mcpReq;
      if (inputResponse(inputResponses, 'sure').kind === 'missing') {
        await report(context, { progress: 1, total: 3 });
        const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
        return inputRequired({
          inputRequests: { sure: inputRequired.elicit({ message: 'Sure?', requestedSchema }) },
        });
      }
      for (const progress of [2, 3]) await report(context, { progress, total: 3 });
      isUnlocked = true;
      await context.mcpReq.notify({ method: 'notifications/tools/list_changed' });
      return text('confirmed');
    });
    if (isUnlocked) server.registerTool('hidden', { inputSchema: z.object({}) }, () => text('found'));
    return server;
  }

  const server = await startMcpServer({ era, build, ...(eventStore && { eventStore }) });
  return {
    ...server,
    go() {
      const step = steps.shift();
      if (step) step();
      else allowed++;
    },
  };
}
