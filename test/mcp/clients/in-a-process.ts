/** Clients in other languages, in processes of their own that are told line by line what to call and to answer. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { rmcpProgram } from '../../programs/built-program.ts';
import { pythonWith } from '../../programs/python-package.ts';
import { fastmcpVersions } from '../../servers/fastmcp.ts';
import { toTold } from './other-client.ts';
import type { AskedOfUser, ClientSetting, OtherClient } from './other-client.ts';

const script = path.join(import.meta.dirname, 'fastmcp-client.py');

interface Said {
  ready?: string;
  asked?: AskedOfUser;
  result?: unknown;
  trouble?: string;
}

export async function missingFastMCP(version: keyof typeof fastmcpVersions): Promise<string | undefined> {
  const python = await pythonWith('fastmcp', fastmcpVersions[version]);
  return python.kind === 'missing' ? python.why : undefined;
}

export async function startFastMCPClient(
  version: keyof typeof fastmcpVersions,
  setting: ClientSetting,
): Promise<OtherClient> {
  const python = await pythonWith('fastmcp', fastmcpVersions[version]);
  if (python.kind === 'missing') throw new Error(python.why);
  const { url, token, shows } = setting;
  const { client } = await start(
    [python.executable, script, url, token, shows.form ? 'forms' : 'none'],
    setting,
  );
  return client;
}

export async function missingRmcp(): Promise<string | undefined> {
  const program = await rmcpProgram();
  return 'missing' in program ? program.missing : undefined;
}

/** The two ways in which a program can use the SDK for Rust, and the revision that each speaks with us. */
const rmcpRevisions = { initialize: '2025-11-25', auto: '2026-07-28' } as const;

export async function startRmcpClient(
  lifecycle: keyof typeof rmcpRevisions,
  setting: ClientSetting,
): Promise<OtherClient> {
  const program = await rmcpProgram();
  if ('missing' in program) throw new Error(program.missing);
  const { url, token, shows } = setting;
  const { client, ready } = await start(
    [program.executable, 'client', lifecycle, url, token, Object.keys(shows).join(',')],
    setting,
  );
  if (ready !== rmcpRevisions[lifecycle]) throw new Error(`rmcp speaks ${ready}`);
  return client;
}

async function start(
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
