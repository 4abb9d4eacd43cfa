/** A server of the v2 SDK whose tools ask, and that counts what it really does. Rounds, or pushed by the SDK's shim. */
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import type { EventStore } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { nights, Nights, text } from './asking-tools.ts';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

export interface AskingServer extends TestMcpServer {
  /** What was done, in its order: `book Lisbon for 3`. */
  done: string[];
}

interface Options {
  era: 'modern' | 'legacy' | 'both';
  eventStore?: EventStore;
  guard?: Parameters<typeof startMcpServer>[0]['guard'];
}

export async function startAskingServer({ era, eventStore, guard }: Options): Promise<AskingServer> {
  const done: string[] = [];
  const codec = createRequestStateCodec<{ step: number; city: string }>({ key: new Uint8Array(32).fill(7) });

  function build(): McpServer {
    const server = new McpServer(
      { name: 'asking', version: '1' },
      { requestState: { verify: codec.verify } },
    );
    const city = z.object({ city: z.string() });

    server.registerTool('book', { description: 'Asks one form', inputSchema: city }, ({ city }, ctx) => {
      const given = inputResponse(ctx.mcpReq.inputResponses, 'nights');
      if (given.kind === 'missing') return inputRequired({ inputRequests: { nights: nights(city) } });
      const content = acceptedContent(ctx.mcpReq.inputResponses, 'nights', Nights);
      if (!content) return text(`not booked: ${'action' in given ? String(given.action) : given.kind}`, true);
      done.push(`book ${city} for ${content.nights}`);
      return text(`booked ${city} for ${content.nights}`);
    });

    server.registerTool(
      'compare',
      { description: 'Asks two forms at once', inputSchema: z.object({}) },
      (_, ctx) => {
        const { inputResponses } = ctx.mcpReq;
        if (inputResponse(inputResponses, 'rome').kind === 'missing')
          return inputRequired({ inputRequests: { rome: nights('Rome'), oslo: nights('Oslo') } });
        const rome = acceptedContent(inputResponses, 'rome', Nights)?.nights ?? 'none';
        const oslo = acceptedContent(inputResponses, 'oslo', Nights)?.nights ?? 'none';
        done.push(`compare ${rome} ${oslo}`);
        return text(`Rome ${rome}, Oslo ${oslo}`);
      },
    );

    server.registerTool(
      'wizard',
      { description: 'Asks three times', inputSchema: z.object({}) },
      async (_, ctx) => {
        const state = ctx.mcpReq.requestState<{ step: number; city: string }>() ?? { step: 0, city: '' };
        const given = acceptedContent(ctx.mcpReq.inputResponses, `step${state.step}`, Nights);
        if (state.step > 0 && !given) return text(`stopped at ${state.step}`, true);
        const trail = given ? `${state.city}${given.nights},` : '';
        if (state.step === 3) {
          done.push(`wizard ${trail}`);
          return text(`wizard ${trail}`);
        }
        const step = state.step + 1;
        return inputRequired({
          inputRequests: { [`step${step}`]: nights(`city ${step}`) },
          requestState: await codec.mint({ step, city: trail }),
        });
      },
    );
    return server;
  }

  const server = await startMcpServer({
    era,
    build,
    ...(eventStore && { eventStore }),
    ...(guard && { guard }),
  });
  return { ...server, done };
}
