/** `interlude try`: calls a tool of any MCP server, and answers what it asks. Needs no service. */
import { defineCommand } from '../command.ts';
import { interruptSignal } from '../try/interrupt.ts';
import { tryOptions } from '../try/options.ts';

export const tryServer = defineCommand({
  arguments: ['<url | command…>'],
  rest: true,
  options: tryOptions,
  details: [
    'A command comes last, best after --, with options of its own: interlude try --tool book -- node server.js',
    'Sources of answers are tried in the order given. Where nothing answers, nothing is sent.',
    '',
    'Exit codes: 0 done, 1 the tool failed, 2 wrong command line or no such server, 3 a question was not answered,',
    '4 the server breaks the protocol, 5 it sent nothing for too long. More: docs/testing-servers.md',
  ].join('\n'),
  async run(values, words, order) {
    const { stdin, stdout, stderr, env } = process;
    const { tryWith } = await import('../try/try-with.ts');
    return tryWith(values, { words, order, stdin, stdout, stderr, env, signal: interruptSignal() });
  },
});
