/** What `init` asks at a terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../../../test/bare-environment.ts';
import { testFolder } from '../../../test/test-folder.ts';

const program = path.resolve(import.meta.dirname, '../src/index.ts');
/** It gives a command a terminal of its own; the options are those of Linux. */
const ofTerminal = 'script';
const hasScript = process.platform === 'linux' && spawnSync(ofTerminal, ['--version']).status === 0;
const down = '\u001B[B';

test.skipIf(!hasScript)(
  'the folder, a model from a list or by its name, a server and the sign-in',
  async () => {
    const cwd = testFolder();
    const words = [process.execPath, program, 'init', '--no-install'];
    const command = `stty cols 100 rows 40; ${words.join(' ')}`;
    const child = spawn(ofTerminal, ['-qec', command, '/dev/null'], {
      cwd,
      env: { ...bareEnvironment(), TERM: 'xterm', GOOGLE_GENERATIVE_AI_API_KEY: 'known' },
    });
    const ended = once(child, 'close');
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    for (const [shown, keys] of [
      [/In which new folder/, 'mine\r'],
      [/Which model/, `${down}${down}${down}\r`],
      [/Which one/, '\r'],
      [/address of an MCP server/, '\r'],
      [/Who signs in/, '\r'],
    ] as const) {
      await expect.poll(() => stripVTControlCharacters(screen), { timeout: 20_000 }).toMatch(shown);
      child.stdin.write(keys);
    }
    await ended;
    expect(stripVTControlCharacters(screen)).toContain('cd mine');
    const agents = readFileSync(path.join(cwd, 'mine/agents.yaml'), 'utf8');
    expect(agents).toContain("model: '@ai-sdk/google:gemini-2.5-pro'");
  },
);
