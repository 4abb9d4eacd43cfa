/** The program `interlude`: its commands, their help, and errors for wrong command lines. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { CommandUnknownOpts as Command } from '@commander-js/extra-typings';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientCommands, interlude as about } from '@interlude-ai/program/client-commands.ts';
import { createProgram } from '@interlude-ai/kit/terminal/run-program.ts';
import { serviceCommands } from '../../src/cli/service-commands.ts';
import { programCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { turnStates } from '@interlude-ai/core/contract/operators.ts';
import { startInternalServer } from '../../src/platform/processes/internal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { freePort } from '../free-port.ts';
import { testFolder } from '../test-folder.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const allCommands = () => createProgram({ ...about, commands: [...serviceCommands(), ...clientCommands()] });
const all = [...serviceCommands(), ...clientCommands()];
/** Every command with its words: `chat`, `api-keys list`. */
const leaves = all.flatMap((command) =>
  command.commands.length === 0
    ? [{ name: command.name(), command }]
    : command.commands.map((member) => ({ name: `${command.name()} ${member.name()}`, command: member })),
);

const pageIntroduction =
  'What `--help` prints. In the folder of the checkout, `npx interlude` runs the commands. `source <(interlude completion bash)` completes them and their options in bash, where `interlude` is on the PATH.';

interface End {
  code: number;
  output: string;
  errors: string;
}

async function start(program: string, words: string[], env: Record<string, string> = {}): Promise<End> {
  return run(program, words, { cwd: root, env: { ...bareEnvironment(), ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout, errors: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      output: stdout,
      errors: stderr,
    }),
  );
}

const interlude = (...words: string[]) => start(process.execPath, ['src/cli/checkout.ts', ...words]);

describe('help', () => {
  test('lists every command', async () => {
    const { code, output, errors } = await interlude('--help');
    expect([code, errors]).toEqual([0, '']);
    for (const command of all) expect(output).toMatch(new RegExp(`^ {2}${command.name()} .*\\S$`, 'm'));
    expect(output).toMatch(/^ {2}completion <shell> /m);
  });

  // `vitest run -u` writes the page.
  test('is also a page, for a clone where nothing is installed yet', async () => {
    const page = ['# Commands', '', pageIntroduction];
    const add = (command: Command, words: string) => {
      page.push('', `## \`${words}\``, '', '```text');
      command.configureOutput({ writeOut: (text) => page.push(text.trimEnd()), getOutHelpWidth: () => 100 });
      command.outputHelp();
      page.push('```');
      for (const member of command.commands)
        if (!['complete', 'version'].includes(member.name())) add(member, `${words} ${member.name()}`);
    };
    add(allCommands(), 'interlude');
    await expect(`${page.join('\n')}\n`).toMatchFileSnapshot('../../docs/commands.md');
  });

  test.each(leaves)('of $name says how it is used', async ({ name, command }) => {
    const words = name.split(' ');
    const program = allCommands();
    let output = '';
    const found = words.reduce((at, word) => at.commands.find((one) => one.name() === word) ?? at, program);
    found.configureOutput({ writeOut: (text) => (output += text) });
    await expect(program.parseAsync([...words, '--help'], { from: 'user' })).rejects.toMatchObject({
      exitCode: 0,
    });
    expect(output).toMatch(new RegExp(`^Usage: npx interlude ${name}( |$)`, 'm'));
    expect(output.replaceAll(/\s+/g, ' ')).toContain(command.description());
    for (const option of [...command.options.map(({ long }) => long), '--help'])
      expect(output).toContain(` ${option}`);
  });

  test.each([
    [['api-keys', '--help'], '  revoke <id>'],
    [['help', 'token'], 'Usage: npx interlude token'],
    [['try', '--tool', 'x', '-h'], 'Usage: npx interlude try [options] <url | command...>'],
    [['try', 'http://127.0.0.1:9', '--help'], 'Usage: npx interlude try'],
    [['api-keys', 'create', '-h'], '--tenant <tenant>'],
    [['start', '--help'], 'Usage: npx interlude start'],
  ])('%j ends with 0 and prints it on stdout', async (words, text) => {
    const { code, output } = await interlude(...words);
    expect([code, output]).toEqual([0, expect.stringContaining(text)]);
  });
});

test('a reader that needs no more ends it without an error', async () => {
  // The reader leaves before the first line.
  const words = ['-c', `"${process.execPath}" src/cli/checkout.ts --help | :`];
  expect(await start('/bin/sh', words)).toEqual({ code: 0, output: '', errors: '' });
});

describe('a wrong command line ends with 2 and says', () => {
  test.each([
    ['what there is, without a command', [], 'Usage: npx interlude [options] [command]'],
    [
      'the nearest command',
      ['strat'],
      "unknown command 'strat'\n(Did you mean start?)\n(npx interlude --help shows how it is used)\n",
    ],
    [
      'where the commands are listed',
      ['nonsense'],
      "unknown command 'nonsense'\n(npx interlude --help shows",
    ],
    ['the nearest command of a group', ['api-keys', 'lst'], "unknown command 'lst' (did you mean list?)"],
    ['what a group has', ['accounts'], 'connect [options] <server>'],
    ['the nearest option', ['chat', '--urll', 'x'], "unknown option '--urll'\n(Did you mean --url?)"],
    ['the nearest option before a command line', ['try', '--tol', 'x'], '(did you mean --tool?)'],
    [
      'what a value is missing for',
      ['chat', '--as'],
      "option '--as <user>' argument missing\n(npx interlude chat",
    ],
    ['that an empty value is none', ['chat', '--as='], "option '--as <user>' argument missing\n"],
    [
      'that the next option is no value',
      ['chat', '--as', '--agent', 'desk'],
      "option '--as <user>' argument missing\n",
    ],
    [
      'the same before a command line',
      ['try', '--tool', '--', 'node', 'server.js'],
      "option '--tool <name>' argument missing\n",
    ],
    ['what takes no value', ['chat', '--help=yes'], "unknown option '--help=…'"],
    [
      'which option is missing',
      ['api-keys', 'create'],
      "required option '--tenant <tenant>' not specified\n(npx interlude api-keys create --help",
    ],
    ['which argument is missing', ['token'], "missing required argument 'user'\n(npx interlude token --help"],
    ['which argument is too many', ['token', 'alice', 'bob'], 'Expected 1 argument but got 2.\n'],
    ['what is no id', ['chat', '--conversation', 'a b'], "argument 'a b' is invalid. An id has 1–128"],
    [
      'what is no URL',
      ['chat', '--url', 'nowhere'],
      "'--url <url>' argument 'nowhere' is invalid. It is not a URL; it begins with https:// or http://.\n(npx interlude chat",
    ],
    [
      'a URL without its scheme',
      ['chat', '--url', 'localhost:3000'],
      "'--url <url>' argument 'localhost:3000' is invalid. It is not a URL;",
    ],
  ])('%s', async (_, words, text) => {
    const { code, output, errors } = await interlude(...words);
    expect([code, output, errors]).toEqual([2, '', expect.stringContaining(text)]);
  });

  test.each([
    [['chat', '--tokne=hunter2'], "unknown option '--tokne=…'"],
    [['chat', '--token', '--hunter2'], "option '--token <token>' argument missing"],
    [['try', '--tokne=hunter2', 'node'], "unknown option '--tokne' (did you mean --token?)"],
    [['try', '--header', 'a b: hunter2', 'node'], '--header a b cannot be sent'],
    [['accounts', 'connect', 'billing', 'hunter2', '--tenant', 'acme'], 'Expected 1 argument but got 2.'],
    [['hunter2'], "unknown command '…'\n(npx interlude --help"],
    [['api-keys', 'hunter2'], "unknown command '…'\n"],
  ])('%j, without the secret', async (words, text) => {
    const { code, errors } = await interlude(...words);
    expect([code, errors]).toEqual([2, expect.stringContaining(text)]);
    expect(errors).not.toContain('hunter2');
  });
});

test('a value that begins with a dash follows an equals sign', async () => {
  const { code, errors } = await interlude('chat', '--agent=-x', '--url', 'http://127.0.0.1:9', '--token=-y');
  expect([code, errors]).toEqual([1, expect.stringContaining('Interlude does not answer')]);
});

test('what follows a command line belongs to it, except the options of the command', async () => {
  const echo = 'process.stderr.write(JSON.stringify(process.argv.slice(1)))';
  const words = ['try', process.execPath, '-e', echo, 'a', '--timeout', '30s', '-h', '--', '--all'];
  const { errors } = await interlude(...words);
  expect(errors).toContain('["a","-h","--","--all"]');
});

test.each([
  ['an agents file', ['agents', 'check', '--config', 'nowhere.yaml']],
  ['a file of answers', ['chat', '--answers', 'nowhere.yaml']],
  ['a recording', ['replay', 'nowhere.yaml']],
])('a fault in %s is named without the usage of the command', async (_, words) => {
  const { code, output, errors } = await interlude(...words);
  expect([code, output]).toEqual([2, '']);
  expect(errors).toContain('nowhere.yaml');
  expect(errors).not.toContain('--help');
});

describe('completion', () => {
  test('has a script for a shell', async () => {
    const { code, output, errors } = await interlude('completion', 'bash');
    expect([code, output, errors]).toEqual([0, expect.stringContaining('interlude complete --'), '']);
  });

  test.each([
    [['api-'], /^api-keys\t/m],
    [['api-keys', ''], /^revoke\t/m],
    [['try', '--rec'], /^--record\t/m],
    [['turns', '--state', ''], /^waiting\t/m],
  ])('of %j', async (words, expected) => {
    const { code, output } = await interlude('complete', '--', ...words);
    expect([code, output]).toEqual([0, expect.stringMatching(expected)]);
  });
});

test('states that can be searched for are all states of a turn', () => {
  const state = leaves
    .find(({ name }) => name === 'turns')
    ?.command.options.find(({ long }) => long === '--state');
  expect(state?.argChoices).toEqual([...turnStates]);
});

test.each(['--version', 'version'])('%s prints the version alone', async (word) => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await interlude(word)).toEqual({ code: 0, output: `${version}\n`, errors: '' });
});

describe('config check', () => {
  const check = (env: Record<string, string>, ...words: string[]) =>
    start(process.execPath, ['src/cli/checkout.ts', 'config', 'check', ...words], env);

  test('shows what the configuration amounts to, with warnings and without secrets', async () => {
    const { code, output, errors } = await check({
      DATABASE_URL: 'postgres://interlude:hunter2@db/interlude',
      INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=`,
      TEMPORAL_ADDRES: 'temporal:7233',
    });
    expect([code, errors]).toEqual([0, '']);
    expect(output).toMatch(/^ {2}agents file {2}.*demo\/agents\.yaml: assistant, desk, researcher$/m);
    expect(output).toMatch(/^ {2}database {5}PostgreSQL, db\/interlude$/m);
    expect(output).toContain(
      'Warning: TEMPORAL_ADDRES: no variable of this name is read (did you mean TEMPORAL_ADDRESS?)',
    );
    expect(output).not.toContain('hunter2');
  });

  test('reports every mistake, and what the process lacks, and ends with 1', async () => {
    const { code, output, errors } = await check({ PORT: 'http' }, '--for', 'server');
    expect([code, output]).toEqual([1, '']);
    expect(errors).toContain(
      '  • PORT: write a port number, for example 3000\n  • AUTH_ISSUER: needed by the API',
    );
  });
});

test('what fails ends with 1', async () => {
  const { code, errors } = await interlude('chat', '--url', 'http://127.0.0.1:9', '--token', 'none');
  expect([code, errors]).toEqual([1, expect.stringContaining('Interlude does not answer')]);
});

describe('a Node that is too old is named in one sentence', () => {
  const pretend =
    "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.8'});Object.defineProperty(process,'version',{value:'v18.20.8'})";

  test.each([['src/cli/interlude.mjs', '--help'], ['scripts/setup.mjs'], ['src/cli/interlude.mjs', 'start']])(
    'by %s',
    async (...words) => {
      const { code, output, errors } = await start(process.execPath, ['--import', pretend, ...words]);
      expect([code, output]).toEqual([1, '']);
      expect(errors).toBe(
        'Interlude needs Node 20 or newer, and this is v18.20.8: install Node 24 from https://nodejs.org or with your version manager.\n',
      );
    },
  );
});

test('all ports that are taken are named at once, and an Interlude that answers at one of them', async () => {
  const names = ['PORT', 'IDENTITY', 'TRACKER', 'TRAVEL', 'DESK', 'FLIGHTS'] as const;
  const variables = names.map((name) => (name === 'PORT' ? name : `DEMO_${name}_PORT`));
  const ports = await Promise.all(variables.map(async (name) => [name, String(await freePort())] as const));
  const env = Object.fromEntries(ports);
  const other = createServer((socket) => socket.destroy()).listen(Number(env['DEMO_DESK_PORT']), '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const startHere = () =>
    start(process.execPath, ['src/cli/checkout.ts', 'start'], { ...env, INTERLUDE_DATA: testFolder() });
  const desk = `  • ${env['DEMO_DESK_PORT']} (DEMO_DESK_PORT)\n`;
  expect(await startHere()).toMatchObject({
    code: 1,
    errors: `\nA port is taken:\n${desk}Stop what listens there, or set DEMO_DESK_PORT to a free port.\n`,
  });

  await using stack = new AsyncDisposableStack();
  await startInternalServer({ internal: { host: '127.0.0.1', port: Number(env['PORT']) } }, stack);
  expect(await startHere()).toMatchObject({
    code: 1,
    errors: `
Ports are taken:
  • ${env['PORT']} (PORT): an Interlude answers there
${desk}Interlude is running already, at http://127.0.0.1:${env['PORT']}: use that one, or stop it first. For another one beside it, set these variables to free ports, and INTERLUDE_DATA to another folder if both start in the same one.
`,
  });
});

describe('the set-up', () => {
  test.each([
    [['--version'], /^\d+\.\d+\.\d+\n$/],
    [['--help'], /^ {2}chat \[options\] +talk to an agent/m],
    [['chat', '--help'], /^Usage: node src\/cli\/interlude\.mjs chat \[options\]\n/],
    [
      ['api-keys', 'create', '-h'],
      /^Usage: node src\/cli\/interlude\.mjs api-keys create [^]*--tenant <tenant>/,
    ],
  ])('is not needed for %j in a fresh clone', async (words, expected) => {
    const clone = testFolder();
    for (const name of ['package.json', 'package-lock.json', 'scripts', 'src/cli', 'docs/commands.md'])
      cpSync(path.join(root, name), path.join(clone, name), { recursive: true });
    // Without npm, so that an installation fails.
    const program = path.join(clone, 'src/cli/interlude.mjs');
    const { code, output, errors } = await start(process.execPath, [program, ...words], { PATH: '' });
    expect([code, errors, output]).toEqual([0, '', expect.stringMatching(expected)]);
  });

  test("fetches Temporal's CLI before the first test of agents begins, also beside a Temporal of one's own", async () => {
    const file = path.join(testFolder(), 'agent.test.mjs');
    writeFileSync(file, "import { test } from 'node:test';\ntest('has begun', () => undefined);\n");
    const env = { TEMPORAL_CLI_PATH: '/nowhere/temporal', TEMPORAL_ADDRESS: '127.0.0.1:9' };
    for (const words of [[file], ['--prepare']])
      expect(await start(process.execPath, ['src/cli/checkout.ts', 'test', ...words], env)).toEqual({
        code: 1,
        output: '',
        errors: expect.stringContaining('TEMPORAL_CLI_PATH: there is no file /nowhere/temporal'),
      });
  });

  test('looks into no folder of the PATH that it cannot read', async () => {
    const folder = testFolder();
    symlinkSync('loop', path.join(folder, 'loop'));
    const searched = [path.join(folder, 'loop'), process.env['PATH']].join(path.delimiter);
    expect(
      await start(
        process.execPath,
        [
          '-e',
          "import('./scripts/setup/steps.mjs').then(({ onPath }) => process.stdout.write(onPath('node') ?? 'none'))",
        ],
        { PATH: searched },
      ),
    ).toMatchObject({
      code: 0,
      output: expect.stringContaining('node'),
      errors: '',
    });
  });

  test.runIf(process.getuid?.() === 0)('names what a user may not write, and prints no stack', async () => {
    const checkout = testFolder();
    for (const name of ['package.json', 'package-lock.json', 'scripts', 'src/cli'])
      cpSync(path.join(root, name), path.join(checkout, name), { recursive: true });
    chmodSync(checkout, 0o755);
    const { code, output, errors } = await new Promise<End>((resolve) => {
      const options = { cwd: checkout, env: bareEnvironment(), uid: 65_534, gid: 65_534 };
      execFile(
        process.execPath,
        ['src/cli/interlude.mjs', 'token', 'alice'],
        options,
        (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), output: stdout, errors: stderr }),
      );
    });
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(
      /^set-up: \/\S+\.interlude\S* cannot be read or written by this user \(EACCES\); give this user the rights, or use a copy of your own\n$/,
    );
  });

  test('npm packs a built package, and not the checkout', async () => {
    const { code, errors } = await start('npm', ['pack', '--dry-run', '--offline']);
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining(
        'The checkout is no package. Build the packages, and pack one: npm run build && npm pack ./dist/client\n',
      ),
    ]);
  });
});

describe('messages name the program as it can be started from there', () => {
  const here = path.join(root, 'src/cli/interlude.mjs');

  test('by npx in the checkout, and in a folder of it', () => {
    const file = path.join(root, 'src/cli/interlude.mjs');
    expect(programCommand({ cwd: root, searched: '', file })).toBe('npx interlude');
    expect(programCommand({ cwd: path.join(root, 'src/cli'), searched: '', file })).toBe('npx interlude');
  });

  test('by its name where it is on the PATH', () => {
    const folder = testFolder();
    symlinkSync(here, path.join(folder, 'interlude'));
    expect(programCommand({ cwd: folder, searched: `/usr/bin${path.delimiter}${folder}`, file: here })).toBe(
      'interlude',
    );
  });

  test('by its file elsewhere, where npx would install another project’s package', () => {
    const folder = testFolder();
    mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true });
    writeFileSync(path.join(folder, 'node_modules/.bin/interlude'), '');
    expect(programCommand({ cwd: folder, searched: '', file: here })).toBe(`node ${here}`);
    expect(programCommand({ cwd: folder, searched: '', file: '/my checkout/interlude.mjs' })).toBe(
      'node "/my checkout/interlude.mjs"',
    );
  });
});

describe('in the checkout', () => {
  test('npx finds the program', async () => {
    const { code, output } = await start('npx', ['--no', '--', 'interlude', 'token', '--help']);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('Usage: npx interlude token [options] <user>'),
    ]);
  });

  const older = ['/usr/bin/node', '/usr/local/bin/node'].find((file) => {
    try {
      return Number(/^v(\d+)/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' }))?.[1]) < 24;
    } catch {
      return false;
    }
  });
  test.runIf(older !== undefined)('an older Node hands over to the one of the lockfile', async () => {
    const { code, errors } = await start(older ?? '', ['src/cli/interlude.mjs', 'tokn']);
    expect([code, errors]).toEqual([2, expect.stringContaining('(Did you mean token?)')]);
  });
});

test('the database is migrated without an agents file, as the job of a deployment does it', async () => {
  const file = path.join(testFolder(), 'interlude.db');
  const env = { DATABASE_URL: `sqlite:${file}`, INTERLUDE_CONFIG: '/nowhere/agents.yaml' };
  const end = await start(process.execPath, ['src/cli/checkout.ts', 'migrate'], env);
  expect(end).toEqual({ code: 0, output: 'The database is up to date.\n', errors: '' });
  using database = new DatabaseSync(file);
  const names = database.prepare("select name from sqlite_master where type = 'table'").all();
  expect(names).toContainEqual({ name: 'turns' });
});
