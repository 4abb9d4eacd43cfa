/** A service whose assistant has tools that MCP clients may call, and the notes that these tools take of what they did. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeEach, expect } from 'vitest';
import { bundleTools } from '../durable-tools/bundle-tools.ts';
import { connectClient } from './mcp-client.ts';
import type { Service } from '../service/service.ts';
import { useService } from '../service/use-service.ts';

/** A tool that asks for one word in each step: by elicitation of either era of MCP, and by calls of clients without it. */
export async function playWizard(service: Service, steps: number): Promise<void> {
  const words = Array.from({ length: steps }, (_, index) => `w${index + 1}`);
  const call = { name: 'wizard', arguments: { steps } };

  await using modern = await connectClient(service, {
    capabilities: { elicitation: { form: {}, url: {} } },
    maxRounds: 2 * steps,
  });
  let next = 0;
  modern.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { word: words[next++] ?? '' },
  }));
  expect((await modern.callTool(call)).content).toEqual([{ type: 'text', text: words.join(' ') }]);

  const legacy = new LegacyClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  let step = 0;
  legacy.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { word: words[step++] ?? '' },
  }));
  const headers = { authorization: `Bearer ${await service.token('alice')}` };
  const transport = new StreamableHTTPClientTransport(new URL('/run/v1/mcp', service.baseUrl), {
    requestInit: { headers },
  });
  await legacy.connect(transport as Parameters<typeof legacy.connect>[0]);
  expect((await legacy.callTool(call)).content).toEqual([{ type: 'text', text: words.join(' ') }]);
  await legacy.close();

  await using plain = await connectClient(service);
  let result = await plain.callTool(call);
  for (const word of words) {
    const pending = result._meta?.['elicitationPending'] as { elicitId: string } | undefined;
    const elicitId = pending?.elicitId;
    const content = { word };
    result = await plain.callTool({
      name: 'sendElicitationResult',
      arguments: { elicitId, action: 'accept', content },
    });
  }
  expect(result.content).toEqual([{ type: 'text', text: words.join(' ') }]);
}

const bundled = await bundleTools();
export const exposed = ['greet', 'delete_page', 'wizard'];
export const outputSchema = {
  type: 'object',
  properties: { deleted: { type: 'boolean' } },
  required: ['deleted'],
};
const bundle = {
  ...bundled,
  manifest: bundled.manifest.map((tool) => ({
    ...tool,
    ...(exposed.includes(tool.name) && { expose: true as const }),
    ...(tool.name === 'delete_page' && { outputSchema }),
  })),
};

export function useExposedTools() {
  const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
  process.env['INTERLUDE_TEST_NOTES'] = notesFile;
  afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
  beforeEach(() => writeFileSync(notesFile, ''));
  const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);
  const used = useService({ tools: { assistant: bundle } });
  return { used, bundle, notes };
}
