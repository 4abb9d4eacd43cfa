import { describe, expect, test } from 'vitest';
import { inspectToolSources } from '@interlude-ai/kit/lint/inspect-tools.ts';
import { checkToolFolder } from '../src/bundle/read-manifest.ts';
import { ToolFolderError } from '../src/bundle/tool-files.ts';
import { toolModule, writeToolFolder } from './folder.ts';

async function problemsOf(files: Record<string, string>): Promise<readonly string[]> {
  const folder = await writeToolFolder(files);
  const error: unknown = await checkToolFolder(folder).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolFolderError)) throw error ?? new Error('nothing is wrong with it');
  expect(error.message).toContain(folder);
  return error.problems;
}

describe('a mistake in a definition is told with its file and a remedy', () => {
  test.each([
    ['no schema', `input: {}`, 'the tool a_tool has an input that is no zod schema; write z.object({ … })'],
    ['a schema of a text', `input: z.string()`, 'has an input that is a schema of a string; write z.object'],
    [
      'what JSON cannot say',
      `input: z.object({ ok: z.string(), day: z.date() })`,
      'has in input.day what JSON',
    ],
    ['an output that JSON cannot say', `output: z.bigint()`, 'has in output what JSON cannot say'],
    ['no description', `description: ' '`, 'the tool a_tool has no description; say what it does'],
    ['nothing to run', `run: undefined`, 'has neither execute nor run; write async execute(input, context)'],
    ['two things to run', `execute: () => 'done'`, 'has both execute and run; keep run where it asks'],
    ['a run that is none', `run: 'done'`, 'has a run that is no function'],
    ['a timeout of run', `timeout: '5s'`, 'has run, so that timeout and idempotent belong into activities('],
    [
      'activities of execute',
      `run: undefined, execute: () => 'done', activities: {}`,
      'has execute, which calls activities as the functions that they are',
    ],
    [
      'an idempotent of another kind',
      `run: undefined, execute: () => 'done', idempotent: ['page']`,
      'has an idempotent that is not true or false',
    ],
    [
      'a timeout of execute without a unit',
      `run: undefined, execute: () => 'done', timeout: '30'`,
      'has a timeout that cannot be read: "30" is no duration',
    ],
    [
      'a timeout of execute that no timer counts',
      `run: undefined, execute: () => 'done', timeout: '720h'`,
      'has a timeout that cannot be read: "720h" is too long',
    ],
    ['an empty title', `title: ''`, 'has a title that says nothing'],
    [
      'an unknown annotation',
      `annotations: { destructive: true }`,
      'has an annotation destructive; there are',
    ],
    ['an annotation of a wrong kind', `annotations: { readOnlyHint: 'yes' }`, 'is not true or false'],
    ['an unknown member', `schema: z.object({})`, 'has a member schema, which a tool has not; remove it'],
    ['a name with capitals', `name: 'aTool'`, 'needs a name of 1 to 64 characters a-z'],
    ['a name as of a server', `name: 'a__tool'`, 'has two underscores in a row in its name'],
    ['a name of ours', `name: 'ask_user'`, 'has a name that the service uses itself'],
    [
      'a tool of ours beside it',
      `name: 'answer_question', expose: true`,
      'is exposed under a name that a tool of the service has; choose another',
    ],
    [
      'an argument as a header',
      `input: z.object({ in: z.object({ x: z.string().meta({ 'x-mcp-header': 'X' }) }) }), expose: true`,
      'is exposed and marks an argument with x-mcp-header',
    ],
    ['an agent beside it', `name: 'ask_desk', expose: true`, 'is exposed under a name that a tool of'],
    ['a name as of our tools for accounts', `name: 'connect_x'`, 'has a name with connect_'],
    [
      'activities that are not there',
      `activities: activities()`,
      'declares activities, but the folder has no',
    ],
    ['a timeout without a unit', `activities: activities({ timeout: '30' })`, `"30" is no duration; write`],
  ])('%s', async (_, members, words) => {
    const problems = await problemsOf({ 'wrong.ts': toolModule(members) });
    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems[0]).toMatch(/^wrong\.ts(?::\d+:\d+)?: /);
  });

  test('an idempotent activity that nobody wrote', async () => {
    const members = `activities: activities({ idempotent: ['read'] })`;
    expect(
      await problemsOf({ 'wrong.ts': toolModule(members), 'activities.ts': 'export function raed() {}' }),
    ).toEqual([
      expect.stringContaining('calls read idempotent, which the file of activities does not export'),
    ]);
  });

  test('a tool that was not made by defineTool', async () => {
    expect(await problemsOf({ 'wrong.js': "export const tool = { name: 'a', run() {} };" })).toEqual([
      'wrong.js: tool is not made by defineTool; write export const tool = defineTool({ … })',
    ]);
  });

  test('all mistakes of all files are told at once', async () => {
    const problems = await problemsOf({
      'one.ts': toolModule(`description: '', title: ''`),
      'two.ts': toolModule(`input: {}`, { name: 'another' }),
      'three.ts': `throw new Error('not today')`,
    });
    expect(problems.map((problem) => problem.split(':', 1)[0])).toEqual([
      'three.ts',
      'one.ts',
      'one.ts',
      'two.ts',
    ]);
    expect(problems[0]).toBe('three.ts:1:7: it throws when it is loaded: not today');
  });

  test('a file that throws while it is loaded, also below another one', async () => {
    const files = {
      'a.ts': `import { limit } from './lib/limit.ts';\n${toolModule('', { before: 'void limit;' })}`,
      'lib/limit.ts': `interface Limit {\n  max: number;\n}\nexport const limit = (undefined as unknown as Limit).max;\n`,
    };
    const words = "it throws when it is loaded: Cannot read properties of undefined (reading 'max')";
    expect(await problemsOf(files)).toEqual([`lib/limit.ts:4:54: ${words}`]);
    const forNode = { ...files, 'a.ts': `import 'node:fs';\n${files['a.ts']}` };
    expect(await problemsOf(forNode)).toEqual([`lib/limit.ts:4:54: ${words}`]);
  });

  test('a misspelt function of a package', async () => {
    expect(await problemsOf({ 'a.ts': toolModule('input: z.object({ page: z.strng() }),') })).toEqual([
      'a.ts:7:27: zod exports no strng',
    ]);
  });
});

describe('a mistake in a folder is told', () => {
  test('there is none', async () => {
    const folder = await writeToolFolder({});
    await expect(checkToolFolder(`${folder}/nothing`)).rejects.toThrow('there is no such folder; make it');
  });

  test('no file in it', async () => {
    expect(
      await problemsOf({ 'README.md': 'x', 'lib/tool.ts': toolModule(), 'a.test.ts': toolModule() }),
    ).toEqual([expect.stringContaining('there is no tool in it')]);
  });

  test('no tool in its files', async () => {
    expect(await problemsOf({ 'a.ts': 'export const one = 1;' })).toEqual([
      'no file exports a tool (a.ts); export what defineTool({ … }) returns',
    ]);
  });

  test('two files of activities', async () => {
    expect(await problemsOf({ 'a.ts': toolModule(), 'activities.ts': '', 'activities.js': '' })).toEqual([
      'activities.js and activities.ts are both files of activities; keep one',
    ]);
  });

  test('two tools of one name', async () => {
    expect(await problemsOf({ 'a.ts': toolModule(), 'b.ts': toolModule() })).toEqual([
      'a.ts and b.ts: 2 tools are named a_tool; rename all but one',
    ]);
  });

  test('a text that is no code', async () => {
    expect(await problemsOf({ 'a.ts': 'export const a = {\n  b: ;\n' })).toEqual([
      expect.stringMatching(/^a\.ts:2:\d+: \S/),
    ]);
  });

  test('an import of nothing', async () => {
    expect(await problemsOf({ 'a.ts': toolModule('', { before: "import './nothing.ts';" }) })).toEqual([
      expect.stringMatching(/nothing\.ts/),
    ]);
  });
});

describe('an import that a workflow may not have is told', () => {
  const [file, helper, activities] = ['tool.ts', 'lib/helper.ts', 'activities.ts'];
  test('of Node', async () => {
    const before = "import { readFile } from 'node:fs/promises'; void readFile;";
    expect(await problemsOf({ [file]: toolModule('', { before }) })).toEqual([
      'tool.ts: it imports node:fs/promises, which a workflow may not; move what needs it into activities.ts',
    ]);
  });

  test('of Node, by a file of the author’s', async () => {
    const before = "import { now } from './lib/helper.ts'; void now;";
    const code = "import net from 'net'; export const now = () => net;";
    expect(await problemsOf({ [file]: toolModule('', { before }), [helper]: code })).toEqual([
      expect.stringContaining('lib/helper.ts: it imports net, which a workflow may not'),
    ]);
  });

  test('of Node, by a package', async () => {
    const before = "import { read } from 'reads'; void read;";
    const manifest = '{ "name": "reads", "main": "index.js" }';
    const problems = await problemsOf({
      [file]: toolModule('', { before }),
      'node_modules/reads/package.json': manifest,
      'node_modules/reads/index.js': "export * from './read.js';",
      'node_modules/reads/read.js': "import fs from 'fs'; export const read = () => fs;",
    });
    expect(problems).toEqual([
      'tool.ts: it imports reads, which imports fs, which a workflow may not; move what needs it into activities.ts',
    ]);
  });

  test('of the activities themselves', async () => {
    const before = "import { send } from './activities.ts'; void send;";
    const code = "import fs from 'node:fs'; export const send = () => fs;";
    expect(await problemsOf({ [file]: toolModule('', { before }), [activities]: code })).toEqual([
      expect.stringMatching(
        /^tool\.ts: it imports activities\.ts itself, which a workflow may not; write activities</,
      ),
    ]);
  });

  test('but their types may be imported', async () => {
    const before = "import type { send } from './activities.ts'; export type Send = typeof send;";
    const code = "import fs from 'node:fs'; export const send = () => fs;";
    const folder = await writeToolFolder({ [file]: toolModule('', { before }), [activities]: code });
    expect(await checkToolFolder(folder)).toMatchObject({ tools: [{ name: 'a_tool' }], pages: [] });
  });
});

describe('the form that fits a tool is hinted at', () => {
  const uses = 'never uses elicit or activities';
  const takes = 'takes elicit or activities, which execute is not given';
  test.each([
    ['run: () => "done"', uses],
    ['async run({ page }, { log, user }) { log.info(user ?? page); }', uses],
    ['async run(_, { elicit }) { await elicit("Go on?", z.object({})); }', null],
    ['async run({ page } = { page: "a" }, { log, ...rest }) { await helper(rest); }', null],
    ['run: (_, context) => helper(context)', null],
    ['run: (...given) => helper(...given)', null],
    ['run: undefined, execute: ({ page }, { signal }) => helper(page, signal)', null],
    ['run: undefined, execute: (_, context) => context.elicit("Go on?", z.object({}))', takes],
    ['run: undefined, async execute(_, { activities }) { await activities.send(); }', takes],
  ])('%s', async (members, words) => {
    const before = 'const helper = async (...given: unknown[]) => given.length;';
    const folder = await writeToolFolder({
      'a.js': toolModule(members, { before }).replace(': unknown[]', ''),
    });
    const { hints } = await checkToolFolder(folder);
    expect(hints.map((hint) => hint.split(':', 2).join(':'))).toEqual(
      words === null ? [] : [`a.js: the tool a_tool ${words}`],
    );
  });
});

describe('questions are held to the rules that lint-server has for servers', () => {
  const ask = (question: string, before = '') =>
    toolModule(`run: undefined, async run({ page }, { elicit }) { await ${question}; },`, { before });

  test.each([
    [
      'a password',
      "elicit('Who?', z.object({ name: z.string(), password: z.string().min(8) }))",
      'error',
      '"password"',
    ],
    [
      'a secret by its title',
      "elicit('Who?', z.object({ a: z.string().meta({ title: 'API key' }) }))",
      'error',
      '"a"',
    ],
    [
      'a secret in words',
      "elicit('Enter your password', z.object({ word: z.string() }))",
      'error',
      'words of the form',
    ],
    ['a form of its own name', "elicit('Who?', form)", 'error', '"token"'],
    [
      'a link in the message',
      'elicit(`See https://a.example/${page}`, z.object({}))',
      'warning',
      'The message has a link',
    ],
    [
      'a link in a field',
      "elicit('Who?', z.object({ a: z.enum(['x']).describe('https://a.example') }))",
      'warning',
      '"a"',
    ],
    [
      'plain http',
      "elicit('Pay', null, { mode: 'url', url: 'http://pay.example/' + page })",
      'error',
      'not encrypted',
    ],
    [
      'a token in the address',
      "elicit('Pay', null, { mode: 'url', url: (id) => `https://pay.example/?token=${id}` })",
      'error',
      '"token"',
    ],
  ])('%s', async (_, question, level, words) => {
    const folder = await writeToolFolder({
      'a.ts': ask(question, 'const form = z.object({ token: z.string() }); void form;'),
    });
    expect(await inspectToolSources(folder)).toEqual([
      { level, text: expect.stringMatching(/^a\.ts:\d+: elicit\("/) },
    ]);
    const [seen] = await inspectToolSources(folder);
    expect(seen?.text).toContain(words);
  });

  test.each([
    "elicit('Which team?', z.object({ team: z.enum(['token', 'password']), resetPassword: z.boolean() }))",
    "elicit('Pay', null, { mode: 'url', url: (id) => `http://127.0.0.1:3000/pay?e=${id}` })",
    "elicit('Pay', null, { mode: 'url', url: (id) => { return `${page}/pay?e=${id}`; } })",
  ])('nothing is wrong with %s', async (question) => {
    const folder = await writeToolFolder({ 'a.ts': ask(question) });
    expect(await inspectToolSources(folder)).toEqual([]);
  });
});

test('a module whose tools ask nothing may import what it likes, and is run by nothing that reads it', async () => {
  const before = `import { readFile } from 'node:fs/promises'; import { send } from './activities.ts';`;
  const members = 'run: undefined, execute: async ({ page }) => send(await readFile(page))';
  const folder = await writeToolFolder({
    'plain.ts': toolModule(members, { before, name: 'plain' }),
    'asking.ts': toolModule(),
    'activities.ts': `export function send() {} if (true) throw new Error('there is no key here');`,
  });
  const { tools } = await checkToolFolder(folder);
  expect(tools.map(({ name, executeMs }) => [name, executeMs])).toEqual([
    ['a_tool', undefined],
    ['plain', 60_000],
  ]);
});

test('definitions that never end are given up', { timeout: 60_000 }, async () => {
  expect(await problemsOf({ 'a.ts': toolModule('', { before: 'for (;;);' }) })).toEqual([
    'they cannot be loaded: Script execution timed out after 20000ms',
  ]);
});

test('definitions in Node do not end the process that reads them', async () => {
  const before = `import { exit } from 'node:process'; exit(0);`;
  expect(
    await problemsOf({ 'a.ts': toolModule(`run: undefined, execute: () => 'done'`, { before }) }),
  ).toEqual([
    'they cannot be loaded: their code ends early: look for process.exit or an await outside of the functions',
  ]);
});

test('what a definition may not reach when it is loaded is told, too', async () => {
  expect(await problemsOf({ 'a.ts': toolModule('', { before: 'console.log(process.env.HOME);' }) })).toEqual([
    expect.stringMatching(/^a\.ts:3:\d+: it throws when it is loaded: (console|process) is not defined/),
  ]);
});
