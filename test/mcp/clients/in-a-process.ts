/** Clients in other languages, as processes that read what to call and answer line by line. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { BuiltProgram } from '../../programs/built-program.ts';
import type { Python } from '../../programs/python-package.ts';
import { toTold } from './other-client.ts';
import type { AskedOfUser, ClientSetting, OtherClient, StartClient } from './other-client.ts';

const pythonScript = path.join(import.meta.dirname, 'python-client.py');

interface Said {
  ready?: string;
  asked?: AskedOfUser;
  result?: unknown;
  trouble?: string;
}

export interface ProgramClient {
  start: StartClient;
  /** Why it cannot be run on this machine. */
  missing(): Promise<string | undefined>;
}

/** The two ways in which a program can use an SDK of both eras. */
type Lifecycle = 'initialize' | 'auto';

export function inPython(
  library: 'fastmcp' | 'mcp' | 'langchain',
  python: () => Promise<Python>,
  lifecycle: Lifecycle = 'auto',
): ProgramClient {
  return {
    async missing() {
      const found = await python();
      return found.kind === 'missing' ? found.why : undefined;
    },
    async start(setting) {
      const found = await python();
      if (found.kind === 'missing') throw new Error(found.why);
      const { url, token, shows } = setting;
      const args = [pythonScript, library, lifecycle, url, token, shows.form ? 'form' : 'none'];
      return (await startProgram([found.executable, ...args], setting)).client;
    },
  };
}

const revisions = { initialize: '2025-11-25', auto: '2026-07-28' } as const;

export function built(
  program: () => Promise<BuiltProgram>,
  lifecycle: Lifecycle,
  library: string[] = [],
): ProgramClient {
  return {
    async missing() {
      const found = await program();
      return 'missing' in found ? found.missing : undefined;
    },
    async start(setting) {
      const found = await program();
      if ('missing' in found) throw new Error(found.missing);
      const { url, token, shows } = setting;
      const args = ['client', ...library, lifecycle, url, token, Object.keys(shows).join(',')];
      const { client, ready } = await startProgram([found.executable, ...args], setting);
      if (ready !== revisions[lifecycle]) throw new Error(`the client speaks ${ready}`);
      return client;
    },
  };
}

async function startProgram(
  [command = '', ...args]: string[],
  { answer }: ClientSetting,
): Promise<{ client: OtherClient; ready: string | undefined }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, {
    env: {
      PATH,
      HOME,
      NO_PROXY: '127.0.0.1',
      FASTMCP_CHECK_FOR_UPDATES: 'off',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const trouble = text(child.stderr);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const hear = async (): Promise<Said> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`The client ended: ${await trouble}`);
    return JSON.parse(value) as Said;
  };
  const say = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`);
  const { ready } = await hear();
  const client: OtherClient = {
    async call(tool, given) {
      say({ tool, arguments: given });
      for (;;) {
        const said = await hear();
        if (said.trouble !== undefined) throw new Error(said.trouble);
        if (!said.asked) return toTold(said.result);
        await answer(said.asked).then(say, (error: unknown) => say({ trouble: String(error) }));
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await trouble;
    },
  };
  return { client, ready };
}
