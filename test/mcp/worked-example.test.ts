/** The worked example of docs/mcp-server.md: its tool is the one of docs/tools.md, exposed, and its messages are what goes over the wire. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openToolBundle } from '../../src/platform/tool-bundles/open-tool-bundle.ts';
import { useService } from '../service/use-service.ts';
import { connectClient } from './mcp-client.ts';

const root = path.resolve(import.meta.dirname, '../..');
const notebook = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-desk-')), 'notebook');
process.env['DESK_NOTEBOOK'] = notebook;
afterAll(() => rmSync(path.dirname(notebook), { recursive: true }));
const notes = () => readFileSync(notebook, 'utf8').split('\n').slice(0, -1);

const [, example = ''] =
  /## A worked example\n([^]*?)\n## /.exec(readFileSync(path.join(root, 'docs/mcp-server.md'), 'utf8')) ?? [];
const [call, asked, answer, end] = [...example.matchAll(/```json\n([^]*?)\n```/g)].map(
  ([, block = '']) => JSON.parse(block) as Record<string, unknown>,
);

const bundle = await openToolBundle(path.join(root, 'examples/tools/tools'));
const manifest = bundle.manifest.map((tool) =>
  tool.name === 'delete_page' ? { ...tool, expose: true as const } : tool,
);
const used = useService({
  tools: { assistant: { ...bundle, manifest } },
  env: {
    INTERLUDE_CONFIG: path.join(root, 'test/fixtures/desk-agents.yaml'),
    PAGES_SECRET: 'a secret of the payment page',
  },
});

interface Call {
  name: string;
  arguments: { elicitId: string };
}

test('a client that shows no questions is led through it by its model', async () => {
  await using client = await connectClient(used.service);
  const pending = await client.callTool(call as unknown as Call);
  const { elicitId } = (pending._meta ?? {})['elicitationPending'] as { elicitId: string };
  const shown = JSON.stringify(asked).replaceAll('<id>', elicitId);
  expect(pending._meta?.['elicitationPending']).toEqual(JSON.parse(shown));

  const { name, arguments: given } = answer as unknown as Call;
  const result = await client.callTool({ name, arguments: { ...given, elicitId } });
  expect(result).toMatchObject(end ?? {});
  expect(notes()).toEqual(['deleted Home']);
});
