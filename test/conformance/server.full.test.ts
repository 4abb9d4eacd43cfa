/**
 * The server scenarios of the official conformance suite, for the 2026-07-28 revision, against the code that speaks MCP
 * with our callers, with the suite's tools in the place of agents. What came out is on the page for readers:
 * `vitest run test/conformance/server -u` writes it anew.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSuiteServer } from './server.ts';
import { runServerScenario, scenarioTimeoutMs, serverScenarios, suiteVersion } from './suite.ts';
import { notOffered, unfulfilledByServer } from './unfulfilled-by-server.ts';

const page = path.resolve(import.meta.dirname, '../../docs/mcp-server.md');
const scenarios = (await serverScenarios()).filter((name) => !notOffered.has(name));
const rows: string[] = [];
let server: Awaited<ReturnType<typeof startSuiteServer>>;

beforeAll(async () => {
  server = await startSuiteServer();
});
afterAll(() => server.stop());

test('the suite has the scenarios that matter here', () => {
  expect(scenarios.filter((name) => name.startsWith('input-required-result-')).length).toBeGreaterThan(9);
  expect(scenarios.filter((name) => name.startsWith('tasks-')).length).toBeGreaterThan(8);
});

test.each(scenarios)('%s comes out as it is told', { timeout: scenarioTimeoutMs }, async (name) => {
  const { passed, complaints } = await runServerScenario(name, server.url);
  const { checks = [], why = '' } = unfulfilledByServer.get(name) ?? {};
  rows.push(`| \`${name}\` | ${passed} of ${passed + checks.length} | ${why} |`);
  expect(complaints.map((one) => one.replace(/:.*/s, '')).toSorted()).toEqual(checks.toSorted());
});

test('the page tells what came out', async () => {
  const table = ['| scenario | checks passed | what is not, and why |', '|---|---|---|', ...rows].join('\n');
  const results = `Suite: \`@modelcontextprotocol/conformance\` ${suiteVersion}.\n\n${table}\n`;
  const marks = /(?<=<!-- results -->\n).*(?=<!-- end of results -->)/s;
  const text = await readFile(page, 'utf8');
  expect(text).toMatch(marks);
  await expect(text.replace(marks, () => results)).toMatchFileSnapshot(page);
});
