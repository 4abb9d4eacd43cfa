/**
 * ACP on stdio: the editor has started this program, and ends it by closing its input. Nothing but the protocol goes to
 * stdout, whatever anybody here writes there.
 */
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { AgentConnectionLifecycle } from '@agentclientprotocol/sdk';
import type { AgentConnector } from '@agentclientprotocol/sdk';

/** Resolves when the editor has gone. */
export async function serveStdio(agent: AgentConnector): Promise<void> {
  const output = takeStdout();
  // An editor that is killed closes both ends at once.
  process.stdout.on('error', () => process.stdin.destroy());
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connected = agent.connect(ndJsonStream(Writable.toWeb(output), input));
  await (connected as AgentConnectionLifecycle).closed;
}

/** The real one; what others write goes to stderr from now on. */
function takeStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return new Writable({
    write: (bytes: Buffer, _, done) => void write(bytes, () => done()),
  });
}
