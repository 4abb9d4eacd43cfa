/** FastMCP's client for Python, in a process of its own that is told line by line what to call and to answer. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { pythonWith } from '../../programs/python-package.ts';
import { fastmcpVersions } from '../../servers/fastmcp.ts';
import { toTold } from './other-client.ts';
import type { AskedOfUser, ClientSetting, OtherClient } from './other-client.ts';

const script = path.join(import.meta.dirname, 'fastmcp-client.py');

interface Said {
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
  { url, token, shows, answer }: ClientSetting,
): Promise<OtherClient> {
  const python = await pythonWith('fastmcp', fastmcpVersions[version]);
  if (python.kind === 'missing') throw new Error(python.why);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(python.executable, [script, url, token, shows.form ? 'forms' : 'none'], {
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
    if (done === true) throw new Error(`FastMCP ended: ${await trouble}`);
    return JSON.parse(value) as Said;
  };
  const say = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`);
  await hear();
  return {
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
}
