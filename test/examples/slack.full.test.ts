/** `examples/slack`: its command, with someone who links themselves, refuses, fills in a form and approves, in the terminal. */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnvironment } from '../bare-environment.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { startProgram } from '../programs/running-program.ts';
import type { RunningProgram } from '../programs/running-program.ts';
import { freePorts } from './run-example.ts';

let terminal: RunningProgram;
let seen = 0;

beforeAll(async () => {
  terminal = startProgram('npm', ['start'], {
    cwd: path.resolve(import.meta.dirname, '../../examples/slack'),
    env: { ...bareEnvironment(), ...(await freePorts()) },
  });
});
afterAll(async () => {
  terminal.child.stdin.end();
  await terminal.ended;
});

/** After what was shown before. */
async function shows(wanted: RegExp): Promise<string> {
  const rest = () => terminal.written.stdout.slice(seen);
  await expect.poll(rest, { timeout: 60_000 }).toMatch(wanted);
  const [found = ''] = wanted.exec(rest()) ?? [];
  seen += rest().indexOf(found) + found.length;
  return found;
}

function type(...lines: string[]): void {
  terminal.child.stdin.write(lines.map((line) => `${line}\n`).join(''));
}

test('a person links themselves, and what they asked goes on with a question', async () => {
  await shows(/Ready\./);
  type('List my open issues in Tracker.');
  const link = await shows(/http:\S+\/slack\/link\?t=\S+/);
  const browser = openBrowser();
  const page = await browser.press(await browser.get(link), 'Continue as Alice');
  await browser.press(page, 'Yes, this is me');
  await shows(/Tracker\* asks: .*\n  1 Connect     2 Not now/);
  type('1');
  await shows(/a window\n.*Open the page http:\S+\/auth\/answer.*└\n/s);
  type('2');
  await shows(/Tracker\*: Declined\..*leave your Tracker account alone/s);
});

test('a form is a window: what does not fit is asked again, and closing it decides nothing', async () => {
  type('Book a trip to Lisbon.');
  await shows(/1 Answer     2 Not now/);
  type('1', 'Ada Lovelace', 'close');
  await shows(/closed: nothing is decided/);
  const trip = ['Ada Lovelace', 'ada@example.com', '2027-03-01', '2027-03-01T08:00', '4'];
  const rest = ['2', '1', '2', '', '', ''];
  type('1', ...trip, '5', ...rest);
  await shows(/✗ .*100/);
  type(...trip, '500', ...rest);
  await shows(/Travel Desk\*: Answered\..*Lisbon.*booked/s);
});

test('the app’s command answers', async () => {
  type('/interlude agent');
  await shows(/assistant/i);
});
