/** What `npm start` prints is true, and its links work, with any settings. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { suggestionsFor, welcome } from '../../../src/platform/development/welcome.ts';
import { reasonsAtStart } from '../../../src/platform/processes/internal-server.ts';

const agentsFile = fileURLToPath(new URL('../../../demo/agents.yaml', import.meta.url));
const config = loadConfig({}, path.dirname(path.dirname(agentsFile)));
const shown = (lacks: string[]) => stripVTControlCharacters(welcome(config, undefined, true, lacks));

test('npm start calls itself ready only when it is', async () => {
  expect(shown([])).toContain('Interlude is ready');
  expect(shown([])).toContain('npx interlude chat');
  const words = shown(['no worker polls task queue "interlude"; start one (interlude worker)']);
  expect(words).toContain('Interlude runs, and is not ready');
  expect(words).toContain('• no worker polls task queue');
  expect(words).not.toContain('Interlude is ready');
  expect(words).not.toContain('npx interlude chat');
});

test('what comes up a moment later is not told as missing', async () => {
  let asked = 0;
  const noWorker = { name: 'workers', detail: 'no worker' } as const;
  expect(
    await reasonsAtStart(async () => ({ notReady: [], warnings: asked++ < 2 ? [noWorker] : [] })),
  ).toEqual([]);
});

const withoutIssues = fileURLToPath(new URL('../../fixtures/agents.yaml', import.meta.url));
const configFrom = (env: Record<string, string>) =>
  loadConfig({ TRACKER_URL: 'http://127.0.0.1:9/mcp', ...env }, path.dirname(path.dirname(agentsFile)));
const printed = (env: Record<string, string>) =>
  stripVTControlCharacters(welcome(configFrom(env), undefined, true, [])).replaceAll(/ +/g, ' ');

test('the demo is talked to where it listens by itself, about what it can do', () => {
  const text = printed({});
  expect(text).toContain('\n npx interlude chat --as alice\n');
  expect(text).toContain(
    'and ask: List my open issues in Tracker.\n or: Close #2.\n or: Give me an overview of the team’s work.\n',
  );
});

test('clients of MCP are given their address', () => {
  expect(printed({ PORT: '4000' })).toContain('MCP http://127.0.0.1:4000/run/v1/mcp\n');
});

test('on other ports, the command names them', () => {
  expect(printed({ PORT: '4000', DEMO_IDENTITY_PORT: '4001' })).toContain(
    '\n npx interlude chat --as alice --url http://127.0.0.1:4000\n',
  );
});

test('agents without examples suggest nothing', () => {
  expect(printed({ INTERLUDE_CONFIG: withoutIssues })).not.toContain('and ask');
  expect(Object.values(suggestionsFor(configFrom({ INTERLUDE_CONFIG: withoutIssues }))).flat()).toEqual([]);
});
