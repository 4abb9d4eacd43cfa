/** Takes the place of your own sign-in: it gives a page the token of its user. Here everyone may be Alice or Bob. */
import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function sendToken(
  program: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const user = request.url === '/bob' ? 'bob' : 'alice';
  const { stdout } = await run(process.execPath, [program, 'token', user]);
  response.setHeader('content-type', 'text/plain').setHeader('cache-control', 'no-store').end(stdout.trim());
}
