/** `interlude lint-server`: each rule at a tool that breaks it and at one that does not, and how it ends. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rules } from '../../src/lint/rules.ts';
import type { Finding } from '../../src/lint/rules.ts';
import { startAskingServer } from '../../../../test/servers/asking-server.ts';
import type { HostileServer } from '../../../../test/servers/hostile-server.ts';
import { startScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import { startRuleBreakingServer } from '../../../../test/servers/rule-breaking-server.ts';
import { runLintCommand } from '../try/in-process.ts';

interface Report {
  tools: { name: string; called: boolean; questions: number; leftOut?: string }[];
  findings: Finding[];
  exitCode: number;
}

const folder = mkdtempSync(path.join(tmpdir(), 'interlude-lint-'));
afterAll(() => rmSync(folder, { recursive: true }));
const accepting = path.join(folder, 'answers.yaml');
writeFileSync(
  accepting,
  `questions: [{ mode: url, accept: true }, { field: wish, accept: { wish: '2026-11-23' } }]
fields: { password: x, account: x, city: x, sure: true }
`,
);

async function lint(words: string[]): Promise<Report> {
  const { output, errors } = await runLintCommand([...words, '--json']);
  expect(errors).toBe('');
  return JSON.parse(output) as Report;
}

const shown = new Set<string>();

describe.each(['modern', 'legacy'] as const)('of the %s era', (era) => {
  let server: HostileServer;
  let report: Report;
  beforeAll(async () => {
    server = await startRuleBreakingServer(era);
    report = await lint(['--all', '--era', era, '--answers', accepting, server.config.url]);
  });
  afterAll(() => server.stop());

  const found = () =>
    Object.groupBy(report.findings, ({ tool }) => tool) as Record<string, Finding[] | undefined>;

  test('each tool that breaks a rule shows it, with its clause and what to do; the one beside it shows nothing', () => {
    const wrong = report.tools.flatMap(({ name }) => {
      const [rule, kind] = name.split('.');
      const names = [...new Set((found()[name] ?? []).map((one) => one.rule))];
      if (kind === 'bad' && names.includes(rule as Finding['rule'])) shown.add(rule ?? '');
      const fits = kind === 'good' ? names.length === 0 : names.includes(rule as Finding['rule']);
      return fits ? [] : [`${name}: ${names.join(', ') || 'nothing'}`];
    });
    expect(wrong).toEqual([]);
    for (const finding of report.findings) {
      expect(finding.message).toMatch(/[.:…)]/);
      expect(finding.clause.url).toMatch(/^https:\/\/modelcontextprotocol\.io\/specification\//);
    }
    expect(report.exitCode).toBe(1);
  });

  test('nothing is found besides', () => {
    const besides = report.findings
      .filter(({ tool, rule }) => !tool.startsWith(`${rule}.`))
      .map(({ tool, rule }) => `${tool}: ${rule}`);
    expect([...new Set(besides)]).toEqual([]);
  });
});

test('every rule has its tools, and a line in the documentation', () => {
  const page = readFileSync(new URL('../../../../docs/testing-servers.md', import.meta.url), 'utf8');
  for (const rule of [...Object.keys(rules), 'protocol']) expect(page).toContain(`\`${rule}\``);
  expect([...shown].toSorted()).toEqual(
    [
      ...Object.keys(rules).filter((rule) => !['tool-list', 'stray-output'].includes(rule)),
      'protocol',
    ].toSorted(),
  );
});

describe('which tools are called', () => {
  const tools = [
    { name: 'book', description: 'Asks for the nights', inputSchema: schema(['city']) },
    { name: 'confirm-order', inputSchema: schema([]) },
    {
      name: 'look',
      annotations: { readOnlyHint: true },
      inputSchema: schema(['of'], { of: { enum: ['all'] } }),
    },
    {
      name: 'wipe',
      description: 'Asks before it wipes',
      annotations: { destructiveHint: true },
      inputSchema: schema([]),
    },
    { name: 'send', inputSchema: schema([]) },
  ];
  let server: Awaited<ReturnType<typeof startScriptedMcpServer>>;
  beforeAll(async () => {
    server = await startScriptedMcpServer({ tools });
  });
  afterAll(() => server.stop());
  const called = async (words: string[]) =>
    (await lint([...words, server.url])).tools.map(({ name, leftOut }) => [name, leftOut ?? 'called']);

  test('those that say that they ask or change nothing, as far as their arguments are known', async () => {
    expect(await called([])).toEqual([
      ['book', 'it needs city'],
      ['confirm-order', 'called'],
      ['look', 'called'],
      ['wipe', 'it is destructive'],
      ['send', 'it does not say that it asks'],
    ]);
    expect(server.calls.find(({ params }) => params.name === 'look')?.params.arguments).toEqual({
      of: 'all',
    });
  });

  test('those of the file, with its arguments; what it skips is left out', async () => {
    server.play();
    const file = path.join(folder, 'calls.yaml');
    writeFileSync(file, 'tools:\n  book: [{ city: Rome }, { city: Oslo }]\n  wipe: {}\n  look: skip\n');
    expect(Object.fromEntries(await called(['--calls', file]))).toMatchObject({
      book: 'called',
      wipe: 'called',
      look: 'the file says so',
    });
    const cities = server.calls.filter(({ params }) => params.name === 'book');
    expect(cities.map(({ params }) => params.arguments)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }]);
  });

  test('those that are named, and no others', async () => {
    const outcome = Object.fromEntries(await called(['--tool', 'wipe']));
    expect(outcome).toMatchObject({ wipe: 'called', 'confirm-order': 'it is not among --tool' });
    expect(Object.fromEntries(await called(['--all']))).toMatchObject({ wipe: 'called', send: 'called' });
  });

  test('none asked anything: that is no success', async () => {
    const { code, output } = await runLintCommand([server.url]);
    expect([code, output]).toEqual([3, expect.stringContaining('No tool asked anything')]);
  });

  test.each([
    ['tools: { boook: {} }', 'There is no tool "boook" (did you mean book?)'],
    ['tools: { book: Rome }', 'book: write its arguments, a list of arguments, or skip'],
    ['book: {}', 'write "tools:", and below it the arguments of each tool'],
    ['tools: [', 'calls.yaml: '],
  ])('a file with %s is a wrong command line', async (text, said) => {
    const file = path.join(folder, 'calls.yaml');
    writeFileSync(file, text);
    await expect(runLintCommand(['--calls', file, server.url])).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(said),
    });
  });
});

function schema(required: string[], properties: object = {}): object {
  return { type: 'object', properties, required };
}

test('a server without a fault: the table, and 0; with --strict a warning is 1', async () => {
  const asking = await startAskingServer({ era: 'both' });
  const clean = await runLintCommand(['--all', '--tool', 'wizard', '--tool', 'compare', asking.config.url]);
  await asking.stop();
  expect([clean.code, clean.output.replace(/http:\S+/, 'URL')]).toEqual([
    0,
    `  asking 1 · MCP 2026-07-28 · URL

  book     not called: it is not among --tool
  compare  asked 2 questions
  wizard   asked 1 question
  To call one all the same: --tool <name>, its arguments in --calls <file>, or --all.

  ✓ nothing to stumble over · 3 questions of 2 called, 3 tools

`,
  ]);
  const stumbling = await startRuleBreakingServer('modern');
  const words = ['--tool', 'link-in-form.bad', stumbling.config.url];
  const codes = [(await runLintCommand(words)).code, (await runLintCommand(['--strict', ...words])).code];
  await stumbling.stop();
  expect(codes).toEqual([0, 1]);
});

test('a server that is not there, and one that says nothing', async () => {
  const server = await startScriptedMcpServer({ on: { 'server/discover': () => undefined } });
  expect(await runLintCommand(['--timeout', '200ms', '--era', 'modern', server.url])).toMatchObject({
    code: 5,
  });
  await server.stop();
  expect(await runLintCommand([server.url])).toMatchObject({
    code: 2,
    errors: expect.stringContaining('Nothing answers'),
  });
});
