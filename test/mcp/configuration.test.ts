/** The blocks of docs/mcp-server.md that people copy: each has the members that its client reads. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mcp } from '@interlude-ai/program/commands/mcp.ts';

const page = readFileSync(new URL('../../docs/mcp-server.md', import.meta.url), 'utf8');

function rowOf(client: string): string {
  const row = page.split('\n').find((line) => line.startsWith(`| ${client} |`));
  if (row === undefined) throw new Error(`The page has no row for ${client}.`);
  return row;
}

/** The first code of the row that is JSON. */
function blockIn(row: string): unknown {
  const [, block = ''] = /`(\{.*?\})`/.exec(row) ?? [];
  return JSON.parse(block);
}

test('programs that start a server start ours, with options that it has', () => {
  const [, block = ''] = /```json\n([^]*?)\n```/.exec(page.slice(page.indexOf('## Clients\n'))) ?? [];
  const { mcpServers } = JSON.parse(block) as {
    mcpServers: Record<string, { command: string; args: string[] }>;
  };
  const { command, args } = mcpServers['interlude'] ?? { command: '', args: [] };
  expect([command, ...args.slice(0, 2)]).toEqual(['npx', 'interlude', 'mcp']);
  const started = mcp();
  expect(started.parseOptions(args.slice(2))).toEqual({ operands: [], unknown: [] });
  expect(started.opts()).toEqual({ service: 'https://interlude.example', agent: 'assistant' });
});

test('VS Code reads servers, with a type', () => {
  const row = rowOf('VS Code');
  expect(row).toContain('`.vscode/mcp.json`');
  expect(blockIn(row)).toEqual({ servers: { interlude: { type: 'http', url: '<address>' } } });
});

test('Cursor reads mcpServers, with an address alone', () => {
  const row = rowOf('Cursor');
  expect(row).toContain('`.cursor/mcp.json`');
  expect(blockIn(row)).toEqual({ mcpServers: { interlude: { url: '<address>' } } });
});

test('Gemini CLI reads httpUrl: a bare url would be the older transport', () => {
  const row = rowOf('Gemini CLI');
  expect(row).toContain('`~/.gemini/settings.json`');
  const headers = { Authorization: 'Bearer <key>' };
  expect(blockIn(row)).toEqual({ mcpServers: { interlude: { httpUrl: '<address>', headers } } });
});

test('Claude Code takes the transport before the name, and the address after it', () => {
  expect(rowOf('Claude Code')).toContain(
    '`claude mcp add --transport http interlude <address> --header "Authorization: Bearer <key>"`',
  );
});
