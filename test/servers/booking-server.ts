/**
 * A server whose tools ask before they do something, that counts what it really does, and that can be stopped with an
 * answer in its hands. The same tools in every era; for crashes on either side.
 */
import { acceptedContent, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { nights, Nights, text } from './asking-tools.ts';
import { createEventStore } from './event-store.ts';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

/** New era; old era with event ids; old era without. */
export const kinds = ['rounds', 'streams', 'held'] as const;
export type Kind = (typeof kinds)[number];

export interface BookingServer extends TestMcpServer {
  /** What was done, in its order: `book Lisbon for 3`. */
  done: string[];
  /** Tool calls that came with a request of their own, in order: `book Lisbon`. */
  called(): string[];
  /** The next call about this city waits there, answered, until it is released. */
  stopAt(city: string, moment: 'before' | 'after'): { arrived: Promise<void>; release(): void };
}

interface Options {
  /** A free one unless given. */
  port?: number;
  onDone?: (words: string) => void;
}

interface Stop {
  moment: 'before' | 'after';
  arrive(): void;
  released: Promise<void>;
}

const repeatable = { idempotentHint: true };

export async function startBookingServer(
  kind: Kind,
  { port, onDone = () => undefined }: Options = {},
): Promise<BookingServer> {
  const done: string[] = [];
  const stops = new Map<string, Stop>();

  /** Asks for the nights in all of these cities at once; does it when it knows them. */
  async function ask(deed: string, cities: string[], context: ServerContext) {
    const { inputResponses } = context.mcpReq;
    if (cities.some((city) => inputResponse(inputResponses, city).kind === 'missing'))
      return inputRequired({ inputRequests: Object.fromEntries(cities.map((city) => [city, nights(city)])) });
    const words = cities
      .map((city) => `${city} for ${acceptedContent(inputResponses, city, Nights)?.nights ?? 'none'}`)
      .join(', ');
    const name = cities.join('+');
    const stop = stops.get(name);
    stops.delete(name);
    const wait = async (moment: Stop['moment']) => {
      if (stop?.moment !== moment) return;
      stop.arrive();
      await stop.released;
    };
    await wait('before');
    done.push(`${deed} ${words}`);
    onDone(`${deed} ${words}`);
    await wait('after');
    return text(`${deed}: ${words}`);
  }

  function build(): McpServer {
    const server = new McpServer({ name: 'booking', version: '1' });
    const inputSchema = z.object({ city: z.string() });
    server.registerTool('book', { inputSchema }, ({ city }, context) => ask('book', [city], context));
    server.registerTool('plan', { inputSchema, annotations: repeatable }, ({ city }, context) =>
      ask('plan', [city], context),
    );
    server.registerTool(
      'compare',
      { inputSchema: z.object({ cities: z.array(z.string()) }), annotations: repeatable },
      ({ cities }, context) => ask('compare', cities, context),
    );
    return server;
  }

  const server = await startMcpServer({
    era: kind === 'rounds' ? 'modern' : 'legacy',
    build,
    ...(port !== undefined && { port }),
    ...(kind === 'streams' && { eventStore: createEventStore() }),
  });
  return {
    ...server,
    done,
    called: () =>
      server.requests.flatMap(({ method, body }) => {
        if (method !== 'tools/call') return [];
        const { params } = body as {
          params: { name: string; arguments: { city?: string; cities?: string[] } };
        };
        const { city, cities = [] } = params.arguments;
        return `${params.name} ${city ?? cities.join('+')}`;
      }),
    stopAt(city, moment) {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      stops.set(city, { moment, arrive, released });
      return { arrived, release };
    },
  };
}
