/**
 * The client scenarios of the official conformance suite, against the code that turns use. What came out of them is
 * on a page for readers, which has to tell the truth: `vitest run test/conformance -u` writes it anew.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { clientScenarios, runScenario, suiteVersion } from './suite.ts';
import type { Result } from './suite.ts';

const page = path.resolve(import.meta.dirname, '../../docs/mcp-conformance.md');

/** Signing in to a server is not what a tool call is about; extensions are nothing that everybody speaks. */
const runs = (await clientScenarios())
  .filter(({ name }) => !name.startsWith('auth/'))
  .flatMap(({ name, revisions }) => revisions.map((revision) => ({ name, revision })));
const rows: string[] = [];

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
});

test.each(runs)('$name is fulfilled at $revision', async ({ name, revision }) => {
  const result = await runScenario(name, revision);
  rows.push(rowOf(name, revision, result));
  expect(result.complaints).toEqual([]);
  expect(result.passed).toBeGreaterThan(0);
});

test('the page tells what came out', async () => {
  const table = [
    '| scenario | revision | checks passed | not applicable |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
  const results = `Suite: \`@modelcontextprotocol/conformance\` ${suiteVersion}.\n\n${table}\n`;
  const marks = /(?<=<!-- results -->\n).*(?=<!-- end of results -->)/s;
  const text = await readFile(page, 'utf8');
  expect(text).toMatch(marks);
  await expect(text.replace(marks, () => results)).toMatchFileSnapshot(page);
});

function rowOf(name: string, revision: string, { passed, skipped, complaints }: Result): string {
  const all = passed + complaints.length;
  return `| \`${name}\` | ${revision} | ${passed} of ${all} | ${skipped === 0 ? '' : skipped} |`;
}
