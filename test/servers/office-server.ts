/** A server that wants a yes before it does something, hands out any form, and sends people to any address at all. */
import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import type {
  CallToolResult,
  ElicitRequestFormParams,
  InputRequest,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text } from './asking-tools.ts';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

export interface Office extends TestMcpServer {
  /** What it was allowed to delete. */
  deleted: string[];
  /** The form that `fill` hands out. */
  form: Record<string, unknown>;
  /** How it came back. */
  filled: unknown[];
}

export async function startOffice(): Promise<Office> {
  const papers: Pick<Office, 'deleted' | 'form' | 'filled'> = { deleted: [], form: {}, filled: [] };

  function build(): McpServer {
    const server = new McpServer({ name: 'office', version: '1' });
    const remove = { description: 'Asks for a yes', inputSchema: z.object({ what: z.string() }) };
    server.registerTool('delete', remove, ({ what }, context) => {
      const nothing = { type: 'object' as const, properties: {} };
      return ask(
        context,
        inputRequired.elicit({ message: `Delete ${what}?`, requestedSchema: nothing }),
        (action) => {
          if (action === 'accept') papers.deleted.push(what);
          return `${what}: ${action}`;
        },
      );
    });
    server.registerTool('fill', { description: 'Hands out a form' }, (context) => {
      const requestedSchema = papers.form as ElicitRequestFormParams['requestedSchema'];
      return ask(
        context,
        inputRequired.elicit({ message: 'Please fill this in.', requestedSchema }),
        (action, content) => {
          if (action === 'accept') papers.filled.push(content);
          return `form: ${action}`;
        },
      );
    });
    const show = { description: 'Opens an address', inputSchema: z.object({ url: z.string() }) };
    server.registerTool('show', show, ({ url }, context) =>
      ask(context, inputRequired.elicitUrl({ message: 'Have a look.', url }), (action) => `shown: ${action}`),
    );
    return server;
  }

  const server = await startMcpServer({ era: 'modern', build });
  return Object.assign(papers, server);
}

function ask(
  context: ServerContext,
  question: InputRequest,
  answered: (action: string, content: unknown) => string,
): CallToolResult | InputRequiredResult {
  const given = inputResponse(context.mcpReq.inputResponses, 'question');
  if (given.kind !== 'elicit') return inputRequired({ inputRequests: { question } });
  return text(answered(given.action, given.content));
}
