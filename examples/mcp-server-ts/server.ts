/** An MCP server whose tool asks the user a form. It holds nothing while the person thinks. */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const When = z.object({ day: z.iso.date(), time: z.enum(['18:00', '19:30', '21:00']) });
/** Requests to a server have both. */
type ServerRequest = IncomingMessage & { method: string; url: string };
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

function build() {
  const server = new McpServer({ name: 'restaurant', version: '1.0.0' });

  server.registerTool(
    'book_table',
    { description: 'Books a table. Asks the user when.', inputSchema: z.object({ people: z.int().min(1) }) },
    ({ people }, { mcpReq: { inputResponses } }) => {
      const message = `A table for ${people}: when?`;
      const question = inputRequired.elicit({ message, requestedSchema: When });
      const answer = inputResponse(inputResponses, 'when');
      // The first request of this call. The client asks the person, and sends the call again with the answer.
      if (answer.kind !== 'elicit') return inputRequired({ inputRequests: { when: question } });
      const when = acceptedContent(inputResponses, 'when', When);
      if (!when) return text(`No table was booked (${answer.action}).`);
      appendFileSync('bookings.txt', `${people} on ${when.day} at ${when.time}\n`);
      return text(`Booked: a table for ${people} on ${when.day} at ${when.time}.`);
    },
  );
  return server;
}

const port = Number(process.env['SERVER_PORT'] ?? 3010);
const handle = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
createServer((request, response) => void handle(request as ServerRequest, response)).listen(
  port,
  '127.0.0.1',
);
