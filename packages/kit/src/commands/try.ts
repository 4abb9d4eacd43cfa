/** `interlude try` and `interlude lint-server`. Their code is loaded when they run, so that help starts fast. */
import { defineCommand } from '../terminal/command.ts';
import { ourCommand } from '../terminal/program-command.ts';
import { interruptSignal } from '../try/exit-codes.ts';
import { tryOptions, lintOptions } from '../try/try-options.ts';

export const tryServer = defineCommand({
  arguments: ['<url | command…>'],
  rest: true,
  options: tryOptions,
  details: [
    `A command comes last, best after --, with options of its own: ${ourCommand('try --tool book -- node server.js')}`,
    'Sources of answers are tried in the order given. If none of them answers, nothing is sent.',
    '',
    'Exit codes: 0 done, 1 the tool failed, 2 wrong command line or no such server, 3 a question was not answered,',
    '4 the server breaks the protocol, 5 it sent nothing for too long. More: docs/testing-servers.md',
  ].join('\n'),
  async run(values, words, order) {
    const { stdin, stdout, stderr, env } = process;
    const { tryWith } = await import('../try/run-try.ts');
    return tryWith(values, { words, order, stdin, stdout, stderr, env, signal: interruptSignal() });
  },
});

export const lintServer = defineCommand({
  arguments: ['<url | command…>'],
  rest: true,
  options: lintOptions,
  details: [
    'Calls the tools whose description says that they ask; declines and cancels their questions, and answers those that --answers answers.',
    'Tools that need arguments get those of --calls. Destructive ones are only called when they are named.',
    '',
    'Exit codes: 0 nothing found but warnings, 1 errors (with --strict also warnings), 2 wrong command line or no such server,',
    '3 no tool asked anything, 4 the server does not complete the handshake, 5 it stays silent. More: docs/testing-servers.md',
  ].join('\n'),
  async run(values, words, order) {
    const { stdin, stdout, stderr, env } = process;
    const { lintWith } = await import('../lint/run-lint.ts');
    return lintWith(values, { words, order, stdin, stdout, stderr, env, signal: interruptSignal() });
  },
});
