/** What each server that asks can do: the same two tools, whatever it speaks. */
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const answer = { nights: 3 };

export function buildAsking(): McpServer {
  const server = new McpServer({ name: 'asking', version: '1' });
  server.registerTool('plain', {}, () => text('done'));
  server.registerTool('ask', {}, (context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'nights', z.object({ nights: z.number() }));
    if (given) return text(`${given.nights} nights`);
    return inputRequired({
      inputRequests: {
        nights: inputRequired.elicit({
          message: 'How many nights?',
          requestedSchema: {
            type: 'object',
            properties: { nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 30 } },
            required: ['nights'],
          },
        }),
      },
    });
  });
  return server;
}

function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}
