/**
 * The server scenarios of the official conformance suite, against the code that speaks MCP with our callers, with the suite's
 * tools in the place of agents: its newest version for every revision, and 0.1.16. What came out is on the page for readers:
 * `vitest run test/conformance/server -u` writes it anew.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refuseUnknownHosts } from '../../src/api/http/origins.ts';
import { createReaders } from '../../src/api/http/readers.ts';
import { withSchemas } from '../../src/api/http/validation.ts';
import { mcpSurface } from '../../src/api/mcp/route.ts';
import type { McpParts } from '../../src/api/mcp/route.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { createOwnMcpSessions } from '../../src/service/mcp-sessions.ts';
import { createSealedText } from '../../src/service/sealed-text.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { createSuiteLayer } from './suite-layer.ts';
import { runServerScenarios, scenarioTimeoutMs, serverScenarios, suites, suiteVersion } from './suite.ts';
import type { Result } from './suite.ts';
import known from './unfulfilled.json' with { type: 'json' };

/** Our MCP endpoint with the suite's tools instead of agents, without sign-in, which the suite does not support. */
async function startSuiteServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const fastify = Fastify();
  const readers = createReaders(fastify, { graceMs: 100 });
  const http = {
    publicUrl: 'http://localhost:3000',
    allowedHosts: [] as string[],
    corsOrigins: [] as string[],
  };
  refuseUnknownHosts(fastify, http);
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request) => {
    request.principal = { kind: 'user', tenant: 'demo', user: 'suite' };
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-server-'));
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
  const { layer, questions } = createSuiteLayer();
  const recordRefusal = async () => undefined;
  const service = {
    ...questions,
    mcpSessions: createOwnMcpSessions({ mcpSessions: storage.mcpSessions, recordRefusal }),
    agents: new Map([['assistant', { name: 'assistant', title: 'Assistant' }]]),
    sealedText: createSealedText(parseKeys(generateKey('suite'))),
    recordRefusal,
    listConversations: async () => ({ items: [], next: null }),
  } as unknown as McpParts['service'];
  mcpSurface(withSchemas(fastify), { service, readers, http, layer });
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
  return {
    url: `${url}/run/v1/mcp`,
    async stop() {
      await fastify.close();
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Scenarios about what our server does not offer: sampling, roots, logging, files, tools with headers or images of their own. */
const notOffered = new Set(known.notOfferedByServer);
/**
 * What the suite complains of although the rule behind the check is kept, by scenario: the suite's words, and the reason as
 * readers get it.
 */
const unfulfilledByServer = new Map<string, { complaints: string[]; why: string }>(
  Object.entries(known.server),
);
const page = path.resolve(import.meta.dirname, '../../docs/mcp-server.md');
const scenarios = await serverScenarios();
const offered = scenarios.map(({ name }) => name).filter((name) => !notOffered.has(name));
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** By column of the table, then by scenario. */
const columns = new Map<string, Map<string, Result>>();
let server: Awaited<ReturnType<typeof startSuiteServer>>;

beforeAll(async () => {
  server = await startSuiteServer();
  const newest = await suites.newest();
  // Extensions belong to no revision: they are only in a run of everything.
  const everything = await runServerScenarios(newest, server.url);
  const isExtension = (name: string) =>
    scenarios.some((one) => one.name === name && one.revisions.length === 0);
  for (const revision of revisions)
    columns.set(revision, await runServerScenarios(newest, server.url, revision));
  for (const [name, result] of everything)
    if (isExtension(name)) columns.get(revisions[0])?.set(name, result);
  columns.set('0.1.16', await runServerScenarios(await suites['0.1.16'](), server.url));
}, 2 * scenarioTimeoutMs);
afterAll(() => server.stop());

test('the suites have the scenarios that matter here', () => {
  const namesIn = (column: string, start = '') =>
    [...(columns.get(column)?.keys() ?? [])].filter((name) => name.startsWith(start));
  expect(namesIn('2026-07-28', 'input-required-result-').length).toBeGreaterThan(9);
  expect(namesIn('2026-07-28', 'tasks-').length).toBeGreaterThan(8);
  for (const column of ['2025-11-25', '0.1.16'])
    expect(namesIn(column)).toEqual(
      expect.arrayContaining(['tools-call-elicitation', 'elicitation-sep1330-enums', 'server-sse-polling']),
    );
  expect(namesIn('2025-06-18')).toContain('tools-call-elicitation');
  expect(namesIn('2025-03-26')).toEqual(['server-session-lifecycle']);
});

test.each(offered)('%s comes out as it is told', (name) => {
  const complaints = [...columns.values()].flatMap((results) => results.get(name)?.complaints ?? []);
  expect(complaints).toEqual(unfulfilledByServer.get(name)?.complaints ?? []);
});

test('the page tells what came out', async () => {
  const heads = ['scenario', ...columns.keys(), 'what is not, and why'];
  const rows = offered.map((name) => {
    const cells = [...columns.values()].map((results) => cellOf(results.get(name)));
    return [`\`${name}\``, ...cells, unfulfilledByServer.get(name)?.why ?? ''];
  });
  const table = [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  const results = `Suites: \`@modelcontextprotocol/conformance\` ${suiteVersion}, by revision, and 0.1.16.\n\n${table}\n`;
  const marks = /(?<=<!-- results -->\n).*(?=<!-- end of results -->)/s;
  const text = await readFile(page, 'utf8');
  expect(text).toMatch(marks);
  await expect(text.replace(marks, () => results)).toMatchFileSnapshot(page);
});

function cellOf(result: Result | undefined): string {
  if (!result) return '';
  const { passed, complaints } = result;
  return complaints.length + passed === 0 ? '–' : `${passed} of ${passed + complaints.length}`;
}
