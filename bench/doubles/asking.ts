/** Servers that ask, one for each way of asking, and a bare client that answers them without anything of ours between. */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createEventStore } from '../../test/servers/event-store.ts';
import { startMcpServer } from '../../test/servers/mcp-server.ts';
import { answer, buildAsking } from './asking-tools.ts';

/** By the server's name in the agents file: rounds; old and to be taken up again; old and held; a program. */
export const ways = {
  rounds: 'new era',
  left: 'old era, event ids',
  held: 'old era, held',
  program: 'stdio, held',
} as const;
export type Way = keyof typeof ways;

export interface AskingServers {
  urls: Record<Exclude<Way, 'program'>, string>;
  /** One call from the handshake to the result, questions answered by a function. */
  callDirectly(way: Way, tool: 'plain' | 'ask'): Promise<void>;
  stop(): Promise<void>;
}

export async function startAskingServers(): Promise<AskingServers> {
  const [rounds, left, held] = await Promise.all([
    startMcpServer({ era: 'modern', build: buildAsking }),
    startMcpServer({ era: 'legacy', build: buildAsking, eventStore: createEventStore() }),
    startMcpServer({ era: 'legacy', build: buildAsking }),
  ]);
  const urls = { rounds: rounds.config.url, left: left.config.url, held: held.config.url };

  return {
    urls,
    async callDirectly(way, tool) {
      const client = new Client(
        { name: 'bench', version: '1' },
        {
          capabilities: { elicitation: { form: {} } },
          ...(way === 'rounds' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
        },
      );
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: answer }));
      await client.connect(
        way === 'program' ? startProgram() : new StreamableHTTPClientTransport(new URL(urls[way])),
      );
      const { isError } = await client.callTool({ name: tool, arguments: {} });
      if (isError) throw new Error(`${way} did not answer the bare client`);
      await client.close();
    },
    stop: async () => void (await Promise.all([rounds, left, held].map((one) => one.stop()))),
  };
}

function startProgram(): StdioClientTransport {
  const program = fileURLToPath(new URL('asking-program.ts', import.meta.url));
  return new StdioClientTransport({ command: process.execPath, args: [program], stderr: 'ignore' });
}
