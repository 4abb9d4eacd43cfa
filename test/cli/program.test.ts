/** The program `interlude`: its commands, their help, and what a wrong command line is told. */
import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { clientCommands } from '../../src/cli/client-commands.ts';
import { findCommand } from '../../src/cli/find-command.ts';
import { helpFor } from '../../src/cli/help.ts';
import { readArguments } from '../../src/cli/read-arguments.ts';
import { serviceCommands } from '../../src/cli/service-commands.ts';
import { bareEnvironment } from '../bare-environment.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const all = [...serviceCommands, ...clientCommands];

interface End {
  code: number;
  output: string;
  errors: string;
}

async function start(program: string, words: string[]): Promise<End> {
  return run(program, words, { cwd: root, env: bareEnvironment() }).then(
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
    for (const { name, summary } of all) expect(output).toMatch(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
  });

  test('lists the commands of a group together', async () => {
    const { output } = await interlude('--help');
    expect(output).toMatch(/^ {2}tools build .*\n {2}tools check /m);
  });

  test.each(all)('of $name says how it is used', async (entry) => {
    const found = findCommand(all, [...entry.name.split(' '), '--help']);
    expect(found).toMatchObject({ kind: 'command', entry, rest: ['--help'] });
    const command = await entry.load();
    expect(readArguments(command, ['--help'])).toBe(null);
    const text = helpFor(entry, command);
    expect(text).toMatch(new RegExp(`^${entry.summary}\n\nUsage: interlude ${entry.name}( |$)`, 'm'));
    for (const name of [...Object.keys(command.options), 'help']) expect(text).toContain(`  --${name}`);
  });

  test.each([
    [['api-keys', '--help'], 'api-keys revoke'],
    [['api-keys', 'create', '-h'], '--tenant <tenant>'],
    [['start', '--help'], 'Usage: interlude start'],
  ])('%j ends with 0 and prints it on stdout', async (words, text) => {
    const { code, output } = await interlude(...words);
    expect([code, output]).toEqual([0, expect.stringContaining(text)]);
  });
});

describe('a wrong command line ends with 2 and says', () => {
  test.each([
    ['what there is, without a command', [], 'Usage: interlude <command>'],
    ['the nearest command', ['strat'], 'There is no command "strat" (did you mean start?).'],
    ['the nearest command of a group', ['api-keys', 'lst'], '"api-keys lst" (did you mean list?)'],
    ['what a group has', ['accounts'], 'interlude accounts connect'],
    ['the nearest option', ['chat', '--urll', 'x'], 'There is no option --urll (did you mean --url?).'],
    ['what a value is missing for', ['chat', '--as'], '--as'],
    [
      'which option is missing',
      ['api-keys', 'create'],
      '--tenant <tenant> is missing.\nUsage: interlude api-keys',
    ],
    ['which argument is missing', ['token'], '<user> is missing.\nUsage: interlude token <user>'],
    ['which argument is too many', ['token', 'alice', 'bob'], '"bob" is one argument too many.'],
    ['what is no URL', ['chat', '--url', 'nowhere'], '--url nowhere is not a URL.\nUsage: interlude chat'],
  ])('%s', async (_, words, text) => {
    const { code, output, errors } = await interlude(...words);
    expect([code, output, errors]).toEqual([2, '', expect.stringContaining(text)]);
  });
});

test('what fails ends with 1', async () => {
  const { code, errors } = await interlude('chat', '--url', 'http://127.0.0.1:9', '--token', 'none');
  expect([code, errors]).toEqual([1, expect.stringContaining('Interlude does not answer')]);
});

describe('in the checkout', () => {
  test('npx finds the program', async () => {
    const { code, output } = await start('npx', ['--no', '--', 'interlude', 'token', '--help']);
    expect([code, output]).toEqual([0, expect.stringContaining('Usage: interlude token <user>')]);
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
    expect([code, errors]).toEqual([2, expect.stringContaining('(did you mean token?)')]);
  });
});
