/** `interlude replay`: a recorded server, for a client under test. */
import { once } from 'node:events';
import { dim } from '../chat/wording.ts';
import { defineCommand, UsageError } from '../command.ts';
import { readCassetteFile } from '../try/cassette-file.ts';
import { differenceLines } from '../try/print-differences.ts';
import { createReplayServer } from '../../testing/cassette/replay-server.ts';
import { serveOnStdio, serveOverHttp } from '../try/serve-cassette.ts';
import { printAside } from '../terminal-text.ts';

export const replayCassette = defineCommand({
  arguments: ['<cassette>'],
  options: {
    serve: { type: 'boolean', description: 'over HTTP, the default' },
    port: { type: 'string', value: '<port>', description: 'where to listen', default: '0' },
    stdio: { type: 'boolean', description: 'on standard input and output, to be started by the client' },
  },
  details:
    'Says to a client what interlude try --record has recorded, until it is ended with Ctrl+C. What the client says differently is shown as a diff, and is exit code 1.',
  async run({ serve, port, stdio }, [file = '']) {
    if (serve && stdio) throw new UsageError('--serve and --stdio are two ways; give one of them.');
    const replay = createReplayServer(await readCassetteFile(file));
    const say = (text: string) => printAside(`${text}\n`);
    if (stdio) await serveOnStdio(replay, { input: process.stdin, output: process.stdout });
    else {
      const { url, close } = await serveOverHttp(replay, readPort(port));
      say(`\n  ${url}\n${dim('  serves the recording; Ctrl+C ends it')}`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      close();
    }
    const missing = replay.missing().map((what) => ({ what, lines: [] }));
    const all = [...replay.differences, ...missing];
    for (const difference of all) say(differenceLines(difference).join('\n'));
    return all.length === 0 ? 0 : 1;
  },
});

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${text} is no port.`);
  return port;
}
