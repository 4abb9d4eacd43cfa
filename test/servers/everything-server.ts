/** MCP's own reference server with everything in it (`@modelcontextprotocol/server-everything`), as a process. */
import { fileURLToPath } from 'node:url';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { freePort } from '../free-port.ts';
import { follow } from '../programs/running-program.ts';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

export interface PeerProcess {
  url: string;
  /** What it has written so far. */
  output(): string;
  stop(): Promise<void>;
}

/** What its form with a field of every kind accepts. */
export const everythingFilled = {
  name: 'Alice Liddell',
  check: true,
  firstLine: 'Alice was beginning to get very tired.',
  email: 'alice@example.com',
  homepage: 'https://example.com/alice',
  birthdate: '1852-05-04',
  integer: 7,
  number: 2.5,
  untitledSingleSelectEnum: 'Ross',
  untitledMultipleSelectEnum: ['Piano', 'Drums'],
  titledSingleSelectEnum: 'hero-3',
  titledMultipleSelectEnum: ['fish-2'],
  legacyTitledEnum: 'pet-4',
};

export async function startEverything(): Promise<PeerProcess> {
  const port = await freePort();
  return startPeer(process.execPath, [program, 'streamableHttp'], {
    env: { ...bareEnvironment(), PORT: String(port) },
    url: `http://127.0.0.1:${port}/mcp`,
    ready: /listening on port/,
  });
}

export interface PeerOptions {
  env: Record<string, string>;
  url: string;
  /** What it writes when it listens. */
  ready: RegExp;
}

export async function startPeer(
  command: string,
  args: string[],
  { env, url, ready }: PeerOptions,
): Promise<PeerProcess> {
  const { written, sees, kill } = follow(spawnBound(command, args, { env }), command);
  await sees(ready);
  return {
    url,
    output: () => written.both,
    async stop() {
      await kill();
    },
  };
}
