/** A scripted server of the first SDK for TypeScript (`@modelcontextprotocol/sdk`), which speaks the old era only. */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { nightsForm } from './asking-tools.ts';
import { createEventStore } from './event-store.ts';
import { createSessions } from './mcp-server.ts';
import { serve } from './serve.ts';

export interface V1Server {
  url: string;
  /** What was begun and what was done, in its order. */
  begun: string[];
  done: string[];
  /** As if it had been restarted. */
  forgetSessions(): void;
  stop(): Promise<void>;
}

const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });

export async function startV1Server({ hasEventIds }: { hasEventIds: boolean }): Promise<V1Server> {
  const begun: string[] = [];
  const done: string[] = [];
  let isPageDone = false;

  function build(): McpServer {
    const server = new McpServer({ name: 'v1', version: '1' });
    const ask = (city: string, timeout?: number) =>
      server.server.elicitInput(
        {
          message: `How many nights in ${city}?`,
          requestedSchema: nightsForm,
        },
        timeout === undefined ? {} : { timeout },
      );

    server.registerTool('book', { inputSchema: { city: z.string() } }, async ({ city }) => {
      begun.push(`book ${city}`);
      const { action, content } = await ask(city);
      if (action !== 'accept') return text(`not booked: ${action}`);
      done.push(`book ${city} for ${String(content?.['nights'])}`);
      return text(`booked ${city} for ${String(content?.['nights'])}`);
    });

    server.registerTool('tour', { inputSchema: { cities: z.array(z.string()) } }, async ({ cities }) => {
      begun.push('tour');
      const nights: string[] = [];
      for (const city of cities) {
        const { action, content } = await ask(city);
        nights.push(action === 'accept' ? `${city} ${String(content?.['nights'])}` : `${city} ${action}`);
      }
      done.push(`tour ${nights.join(', ')}`);
      return text(nights.join(', '));
    });

    server.registerTool('pay', {}, async () => {
      begun.push('pay');
      const { action } = await server.server.elicitInput({
        mode: 'url',
        message: 'Pay the deposit',
        url: 'https://pay.example/deposit',
        elicitationId: randomUUID(),
      });
      if (action === 'accept') done.push('pay');
      return text(`paid: ${action}`);
    });

    server.registerTool('hurry', {}, async () => {
      begun.push('hurry');
      await ask('Rome', 1_000);
      return text('in time');
    });

    server.registerTool('enter', {}, () => {
      begun.push('enter');
      if (!isPageDone) {
        isPageDone = true;
        throw new UrlElicitationRequiredError([
          { mode: 'url', elicitationId: 'door', message: 'Open the door', url: 'https://door.example/' },
        ]);
      }
      done.push('enter');
      return text('entered');
    });
    return server;
  }

  const sessions = createSessions<StreamableHTTPServerTransport>(async (opened) => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => opened(session, transport),
      ...(hasEventIds && { eventStore: createEventStore() as unknown as EventStore }),
    });
    await build().connect(transport);
    return transport;
  });
  const { origin, stop } = await serve(({ request, response, body }) =>
    sessions.handle(request, response, body === '' ? undefined : (JSON.parse(body) as unknown)),
  );
  return {
    url: `${origin}/mcp`,
    begun,
    done,
    forgetSessions: () => sessions.forget(),
    stop,
  };
}
