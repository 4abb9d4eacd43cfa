/** `interlude try` in a pseudo terminal: a form with a field of every kind is filled in. */
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../../../../test/bare-environment.ts';
import { startEverything } from '../../../../test/servers/everything-server.ts';

/** It gives a command a terminal of its own; the options are those of Linux. */
const ofTerminal = 'script';
const program = path.resolve(import.meta.dirname, '../../../../src/cli/checkout.ts');
const hasScript = process.platform === 'linux' && spawnSync(ofTerminal, ['--version']).status === 0;

/** What to type when these words stand at the end of the screen. */
const dialogue: [shown: RegExp, typed: string][] = [
  [/1\/13/, 'Alice Liddell'],
  [/2\/13/, 'maybe'],
  [/✗|yes|y\/n/, 'yes'],
  [/3\/13/, 'Alice was beginning'],
  [/4\/13/, 'no address'],
  [/email/i, 'alice@example.com'],
  [/5\/13/, 'https://example.com/alice'],
  [/6\/13/, '1852-05-04'],
  [/7\/13/, '7'],
  [/8\/13/, '2.5'],
  [/9\/13/, '2'],
  [/10\/13/, '1, 3'],
  [/11\/13/, '3'],
  [/12\/13/, '2'],
  [/13\/13/, '4'],
  [/send/i, ''],
];

test.skipIf(!hasScript)(
  'each kind of field is asked, mistakes are told, and what was typed arrives',
  { timeout: 90_000 },
  async () => {
    const server = await startEverything();
    const words = [process.execPath, program, 'try', '--tool', 'trigger-elicitation-request', server.url];
    const child = spawn(ofTerminal, ['-qec', words.join(' '), '/dev/null'], {
      env: { ...bareEnvironment(), TERM: 'xterm', COLUMNS: '120' },
    });
    let raw = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    let seen = 0;
    for (const [shown, typed] of dialogue) {
      const fresh = () => stripVTControlCharacters(raw.slice(seen));
      await expect
        .poll(fresh, { timeout: 20_000 })
        .toMatch(new RegExp(`${shown.source}[^]*›\\s*$`, shown.flags));
      seen = raw.length;
      child.stdin.write(`${typed}\r`);
    }
    const code = await ended;
    await server.stop();
    const screen = stripVTControlCharacters(raw);
    expect(code, screen).toBe(0);
    expect(screen).not.toContain('Warning');
    for (const said of [
      '"name": "Alice Liddell"',
      '"check": true',
      '"email": "alice@example.com"',
      '"integer": 7',
      '"number": 2.5',
    ])
      expect(screen).toContain(said);
  },
);
