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

const [up, down] = ['\u001B[A', '\u001B[B'];
/** Ctrl+U removes a default. */
const instead = '\u0015';

/** Which keys to press when these words are shown. */
const dialogue: [shown: RegExp, keys: string][] = [
  [/Your answer/, ''],
  [/1\/13/, `${instead}Alice Liddell`],
  // Optional, so the list begins at its last line, which leaves it open.
  [/2\/13/, up + up],
  [/3\/13/, `${instead}Alice was beginning`],
  [/4\/13/, `${instead}no address`],
  [/email/i, `${instead}alice@example.com`],
  [/5\/13/, `${instead}https://example.com/alice`],
  [/6\/13/, `${instead}1852-05-04`],
  [/7\/13/, `${instead}7`],
  [/8\/13/, `${instead}2.5`],
  [/9\/13/, down],
  [/10\/13/, ` ${down}${down} `],
  [/11\/13/, down],
  [/12\/13/, down],
  [/13\/13/, down],
  [/Send it\?/, ''],
];

/** `interlude try` at this server, whose keys are pressed as the dialogue says. */
async function tryInTerminal(keys: [shown: RegExp, keys: string][]) {
  const server = await startEverything();
  const words = [process.execPath, program, 'try', '--tool', 'trigger-elicitation-request', server.url];
  const child = spawn(ofTerminal, ['-qec', words.join(' '), '/dev/null'], {
    env: { ...bareEnvironment(), TERM: 'xterm', COLUMNS: '120' },
  });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let seen = 0;
  for (const [shown, pressed] of keys) {
    const fresh = () => stripVTControlCharacters(raw.slice(seen));
    await expect.poll(fresh).toMatch(shown);
    seen = raw.length;
    child.stdin.write(pressed);
  }
  const code = await ended;
  await server.stop();
  return { code, screen: stripVTControlCharacters(raw) };
}

test.skipIf(!hasScript)(
  'each kind of field is asked, mistakes are explained, and what was typed arrives',
  { timeout: 120_000 },
  async () => {
    const { code, screen } = await tryInTerminal(dialogue.map(([shown, keys]) => [shown, `${keys}\r`]));
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

test.skipIf(!hasScript)('Ctrl+C at a prompt ends it with 130', async () => {
  const { code } = await tryInTerminal([[/Your answer/, '\u0003']]);
  expect(code).toBe(130);
});
