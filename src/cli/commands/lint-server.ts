/** `interlude lint-server`: what clients will stumble over when the tools of a server ask. Needs no service. */
import { defineCommand } from '../command.ts';
import { lintOptions } from '../lint/options.ts';
import { interruptSignal } from '../try/interrupt.ts';

export const lintServer = defineCommand({
  arguments: ['<url | command…>'],
  rest: true,
  options: lintOptions,
  details: [
    'Calls the tools that say that they ask, declines and cancels what they ask, and answers it where --answers does.',
    'Tools that need arguments get those of --calls. Destructive ones are only called when they are named.',
    '',
    'Exit codes: 0 nothing found but warnings, 1 errors (with --strict also warnings), 2 wrong command line or no such server,',
    '3 no tool asked anything, 4 the server does not shake hands, 5 it said nothing. More: docs/testing-servers.md',
  ].join('\n'),
  async run(values, words, order) {
    const { stdin, stdout, stderr, env } = process;
    const { lintWith } = await import('../lint/lint-with.ts');
    return lintWith(values, { words, order, stdin, stdout, stderr, env, signal: interruptSignal() });
  },
});
