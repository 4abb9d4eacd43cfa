/**
 * The client scenarios of the official conformance suite, against the code that turns use. What came out of them is
 * on a page for readers, which has to tell the truth: `vitest run --project release test/conformance -u` writes it anew. The full
 * suite runs each scenario at its newest revision.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { clientScenarios, runScenario, scenarioTimeoutMs, suiteVersion } from './suite.ts';
import type { Result } from './suite.ts';
import known from './unfulfilled.json' with { type: 'json' };

/** What the suite complains of and what stays as it is, by scenario: its checks, and the reason as readers get it. */
const unfulfilled = new Map<string, { checks: string[]; why: string }>(Object.entries(known.client));
const page = path.resolve(import.meta.dirname, '../../docs/mcp-conformance.md');

/** Extensions belong to no revision and are not run. */
const isWhole = inject('suite') === 'release';
const scenarios = await clientScenarios();
const runsAt = (first: 0 | -1) =>
  scenarios.flatMap(({ name, revisions }) => revisions.slice(first).map((revision) => ({ name, revision })));
const runs = runsAt(isWhole ? 0 : -1);
const rows: string[] = [];
/** The suite's own checks that complained, by scenario. */
const complaints = new Map<string, Set<string>>();

test('the suite has the scenarios that matter here', () => {
  expect(runs.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'elicitation-sep1034-client-defaults',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'http-standard-headers',
      'initialize',
      'request-metadata',
      'sep-2322-client-request-state',
      'sse-retry',
      'tools_call',
    ]),
  );
  expect(runsAt(0).filter(({ name }) => name.startsWith('auth/')).length).toBeGreaterThan(30);
  expect(runs.map(({ name }) => name)).toEqual(expect.arrayContaining([...unfulfilled.keys()]));
});

test.each(runs)(
  '$name at $revision comes out as it is told',
  { timeout: scenarioTimeoutMs + 10_000 },
  async ({ name, revision }) => {
    const result = await runScenario(name, revision);
    rows.push(rowOf(name, revision, result));
    const expected = unfulfilled.get(name)?.checks ?? [];
    const checks = result.complaints.map((one) => one.replace(/:.*/s, ''));
    if (checks.length > 0) complaints.set(name, new Set([...(complaints.get(name) ?? []), ...checks]));
    // What is new here comes with the suite's own words.
    expect(result.complaints.filter((_, index) => !expected.includes(checks[index] ?? ''))).toEqual([]);
    expect(result.passed + expected.length).toBeGreaterThan(0);
  },
);

test('what is told to be unfulfilled is', () => {
  const told = new Map([...unfulfilled].map(([name, { checks }]) => [name, new Set(checks)]));
  expect(complaints).toEqual(told);
});

test.runIf(isWhole)('the page tells what came out', async () => {
  const table = [
    '| scenario | revision | checks passed | not applicable |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
  const missing = [
    '| scenario | not fulfilled | why |',
    '|---|---|---|',
    ...[...unfulfilled].map(
      ([name, { checks, why }]) =>
        `| \`${name}\` | ${checks.map((one) => `\`${one}\``).join(', ')} | ${why} |`,
    ),
  ].join('\n');
  const results = `Suite: \`@modelcontextprotocol/conformance\` ${suiteVersion}.\n\n${table}\n\n${missing}\n`;
  const marks = /(?<=<!-- results -->\n).*(?=<!-- end of results -->)/s;
  const text = await readFile(page, 'utf8');
  expect(text).toMatch(marks);
  await expect(text.replace(marks, () => results)).toMatchFileSnapshot(page);
});

function rowOf(name: string, revision: string, { passed, skipped, complaints }: Result): string {
  const all = passed + complaints.length;
  return `| \`${name}\` | ${revision} | ${passed} of ${all} | ${skipped === 0 ? '' : skipped} |`;
}
