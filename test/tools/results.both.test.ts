/** What tools return, from a real server to the model and to the readers. */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { startMcpServer } from '../servers/mcp-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { pdf, png } from '../images.ts';

const temporal = useDevelopmentServer();
let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

const everything: CallToolResult = {
  content: [
    { type: 'text', text: 'a map', annotations: { audience: ['user'], priority: 0.5 } },
    { type: 'image', data: png, mimeType: 'image/png' },
    { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside', mimeType: 'text/plain' } },
    { type: 'resource', resource: { uri: 'file:///b.pdf', blob: pdf, mimeType: 'application/pdf' } },
    {
      type: 'resource_link',
      uri: 'https://maps.example/lisbon',
      name: 'lisbon',
      title: 'Lisbon',
      icons: [{ src: 'https://maps.example/icon.png' }],
    },
  ],
  structuredContent: { at: { latitude: 38.7 } },
};

function build(): McpServer {
  const server = new McpServer({ name: 'maps', version: '1' });
  server.registerTool('everything', {}, () => everything);
  server.registerTool('large', {}, () => ({
    content: [
      { type: 'text', text: 'x'.repeat(1_000_000) },
      { type: 'image', data: 'A'.repeat(6 * 1024 * 1024), mimeType: 'image/png' },
    ],
  }));
  return server;
}

describe.each(inject('suite') === 'daily' ? (['modern'] as const) : (['legacy'] as const))(
  'a %s server',
  (era) => {
    async function start() {
      const server = await startMcpServer({ era, build });
      stack.defer(() => server.stop());
      const service = await startAsking({ temporal, url: server.config.url });
      stack.defer(() => service.stop());
      const alice = await service.as('alice');
      const conversation = randomUUID();

      return {
        async call(tool: string) {
          const turn = await alice.chat(callOf([tool]), { conversation });
          await turn.finished();
          const chunk = turn.chunks.find(({ type }) => type === 'tool-output-available');
          const told = await alice.request('GET', `/run/v1/conversations/${conversation}`);
          const { items } = told.body['messages'] as {
            items: { parts: { type: string; output?: unknown }[] }[];
          };
          const answer = items.at(-1);
          const part = answer?.parts.find(({ type }) => type === 'dynamic-tool');
          const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
          const logged = log.flatMap(({ event }) => ('output' in event ? [event.output] : []));
          const messages = await service.storage.messages.list({ tenant: 'demo', conversation });
          const message = messages.find(({ role }) => role === 'tool');
          const [result] = (message?.content ?? []) as { output: { value: unknown } }[];
          const read = result?.output.value;
          return { seen: [chunk?.['output'], part?.output, ...logged], read };
        },
      };
    }

    test('that returns content of every kind is seen whole on the stream, in the conversation and on the feed', async () => {
      const { call } = await start();
      const { seen, read } = await call('everything');
      expect(seen).toHaveLength(3);
      for (const output of seen) expect(output).toMatchObject({ ...everything });
      expect(read).toMatchObject([
        { type: 'text', text: 'a map' },
        { type: 'file', mediaType: 'image/png' },
        { type: 'text', text: expect.stringContaining('audio/wav, 3 bytes') },
        { type: 'text', text: 'file:///a.txt:\ninside' },
        { type: 'file', mediaType: 'application/pdf' },
        { type: 'text', text: 'Link to "Lisbon": https://maps.example/lisbon.' },
      ]);
    });

    test('that returns more than anybody can take is cut for clients and for the model, and both are told', async () => {
      const { call } = await start();
      const { seen, read } = await call('large');
      for (const output of seen) {
        expect(output).toMatchObject({
          content: [{ text: 'x'.repeat(1_000_000) }, { text: '[image/png, 4.7 MB: too large to be kept]' }],
        });
      }
      expect(String(read).length).toBeLessThan(101_000);
      expect(read).toContain('[cut here: too long to be read in whole]');
    });
  },
);
