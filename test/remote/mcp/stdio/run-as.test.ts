/** Programs that run as another user than the worker, and workers that may not start them. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ServerConfig } from '../../../../src/platform/config/agents-file/server-config.ts';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import { troubleOf } from '../../../../src/remote/mcp/server-trouble.ts';
import { troubleInWords } from '../../../../src/turn/for-model.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';
import { checkRunAs, startProcess } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { ServerProcess } from '@interlude-ai/core/mcp/stdio/process.ts';
import { serverConfig } from '../../../servers/mcp-server.ts';

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
const runAs = { uid: 65_533, gid: 65_532 };
const isRoot = process.geteuid?.() === 0;

/** Speaks just enough MCP to say who it is and what it can read, in plain JavaScript that any user can run. */
const program = `
const { readFileSync } = require('node:fs');
const tryRead = (file) => { try { return readFileSync(file).length; } catch (error) { return error.code; } };
const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    return reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'who', version: '1' } });
  if (method !== 'tools/call') return id === undefined ? undefined : process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
  const text = JSON.stringify({
    uid: process.getuid(), gid: process.getgid(), groups: process.getgroups(), cwd: process.cwd(),
    environ: tryRead('/proc/' + process.ppid + '/environ'), names: Object.keys(process.env).sort(),
  });
  reply(id, { content: [{ type: 'text', text }] });
});`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'run-as-'));
  await chmod(folder, 0o755);
  onTestFinished(() => rm(folder, { recursive: true }));
});

const who = (changes: Partial<ServerConfig['process']> = {}): ServerConfig =>
  serverConfig('stdio://who', {
    name: 'who',
    title: 'Who',
    credentialScope: 'none',
    process: {
      command: process.execPath,
      args: ['-e', program],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      runAs,
      ...changes,
    },
  });

function ask(server: ServerConfig) {
  const signal = new AbortController().signal;
  return openRemoteServers().callTool(server, nobody, { name: 'who', arguments: {}, callId: 'c1', signal });
}

test.runIf(isRoot && process.platform === 'linux')(
  'a program runs as its user, without our groups, and cannot read the environment of the worker',
  async () => {
    const outcome = await ask(who());
    const [block] = outcome.kind === 'result' ? (outcome.result.content ?? []) : [];
    const seen = JSON.parse(block?.type === 'text' ? block.text : '{}') as Record<string, unknown>;
    expect(seen).toMatchObject({ ...runAs, cwd: folder, environ: 'EACCES', names: ['PATH'] });
    expect([[], [runAs.gid]]).toContainEqual(seen['groups']);
  },
);

test.skipIf(process.platform === 'win32')(
  'a worker that may not switch users does not run the program, and says why',
  async () => {
    const server = who();
    const started = withoutRights(() =>
      startProcess(server.process as ServerProcess, { onOutput: () => undefined, onEnd: () => undefined }),
    );
    const failure: unknown = await started.catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: { kind: 'not-permitted-user', uid: runAs.uid } });
    const exchange = {
      method: 'start',
      id: undefined,
      isSent: false,
      isStream: true,
      challenge: null,
      failure,
    };
    expect(troubleInWords(troubleOf(server, exchange, undefined))).toContain(
      'Who (this machine) cannot be started: the worker may not start programs as user 65533.',
    );
  },
);

/** A process that is root anyway lays its rights down for as long as `start` runs, which starts the program. */
function withoutRights<T>(start: () => T): T {
  if (!isRoot) return start();
  process.seteuid?.(65_531);
  try {
    return start();
  } finally {
    process.seteuid?.(0);
  }
}

describe('at its start, a worker', () => {
  const linux = { platform: 'linux', uid: 0 } as const;

  test('that is root and whose folders are open has nothing to say', () =>
    expect(() => checkRunAs([who(), serverConfig('http://tracker/mcp')], linux)).not.toThrow());

  test.each([
    ['not root', { ...linux, uid: 1000 }, 'this worker runs as user 1000; run it as root'],
    ['on Windows', { platform: 'win32', uid: undefined } as const, 'on Windows; remove uid and gid'],
  ])('that is %s names the server and the remedy', (_, own, words) => {
    const check = () => checkRunAs([who()], own);
    expect(check).toThrow(/servers\.who\.uid: /);
    expect(check).toThrow(words);
  });

  test('names a folder that the user may not enter', async () => {
    await chmod(folder, 0o700);
    expect(() => checkRunAs([who()], linux)).toThrow(`user 65533 may not enter ${folder}`);
  });

  test('asks nothing of servers without a user of their own', () =>
    expect(() => checkRunAs([serverConfig('http://tracker/mcp')], { ...linux, uid: 1000 })).not.toThrow());
});
