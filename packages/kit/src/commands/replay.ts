/** `interlude replay`: a recorded server, for a client under test. */
import { once } from 'node:events';
import { styleText } from 'node:util';
import { Command, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { port } from '../terminal/command.ts';
import { ourCommand } from '../terminal/program-command.ts';
import { printAside } from '../terminal/terminal-text.ts';

export function replay(): CommandUnknownOpts {
  return new Command('replay')
    .description('serve a recorded MCP session, to test a client')
    .argument('<cassette>')
    .addOption(
      new Option('--port <port>', 'the port for HTTP; 0 takes a free one').argParser(port).default(0),
    )
    .option('--stdio', 'serve on standard input and output instead, for a client that starts it')
    .addHelpText(
      'after',
      `
Answers a client with what ${ourCommand('try --record')} has recorded, until
Ctrl+C. What the client says differently is shown as a diff, and the exit code
is then 1.`,
    )
    .action((file, options) => replayFile(file, options));
}

async function replayFile(file: string, options: { port: number; stdio?: true | undefined }): Promise<void> {
  const [{ createReplayServer }, { readCassetteFile }, { differenceLines }, { serveOnStdio, serveOverHttp }] =
    await Promise.all([
      import('../cassette/replay-server.ts'),
      import('../try/cassette-file.ts'),
      import('../try/print-call.ts'),
      import('../try/serve-replay.ts'),
    ]);
  const server = createReplayServer(await readCassetteFile(file));
  const say = (text: string) => printAside(`${text}\n`);
  if (options.stdio) await serveOnStdio(server, { input: process.stdin, output: process.stdout });
  else {
    const { url, close } = await serveOverHttp(server, options.port);
    say(`\n  ${url}\n${styleText('dim', '  serves the recording; Ctrl+C ends it')}`);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    close();
  }
  const missing = server.missing().map((what) => ({ what, lines: [] }));
  const all = [...server.differences, ...missing];
  for (const difference of all) say(differenceLines(difference).join('\n'));
  if (all.length > 0) process.exitCode = 1;
}
