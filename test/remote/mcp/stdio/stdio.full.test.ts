/** Servers that are processes of ours: started for each call, spoken to over pipes, and gone afterwards. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ServerConfig } from '../../../../src/platform/config/config.ts';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import type { ProcessExit } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { ToolCall } from '../../../../src/remote/remote-servers.ts';
import type { ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import { serverConfig } from '../../../servers/mcp-server.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
beforeEach(() => void (remote = openRemoteServers()));

const script = fileURLToPath(new URL('../../../servers/stdio-server.ts', import.meta.url));
const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
const never = new AbortController().signal;

let folder: string;
let starts: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stdio-'));
  starts = path.join(folder, 'starts');
  await writeFile(starts, '');
});
afterEach(() => rm(folder, { recursive: true }));

function program(command: string, args: string[], changes: Partial<ServerConfig> = {}): ServerConfig {
  const env = { PATH: process.env['PATH'] ?? '', STARTS: starts };
  return serverConfig('stdio://files', {
    title: 'Files',
    credentialScope: 'none',
    process: { command, args, cwd: folder, env },
    ...changes,
  });
}
const peer = (era: string, changes: Partial<ServerConfig> = {}) =>
  program(process.execPath, [script, era], changes);
const inline = (code: string) => program(process.execPath, ['-e', code]);

function call(server: ServerConfig, name: string, options: Partial<ToolCall> = {}) {
  return remote.callTool(server, nobody, { name, arguments: {}, callId: 'c1', signal: never, ...options });
}

/** What the started processes wrote to their file, line by line. */
const lines = async () => (await readFile(starts, 'utf8')).split('\n').filter((line) => line !== '');

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(...pids: number[]): Promise<void> {
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
}

describe.each(['both', 'modern', 'old', 'touchy'])('a server of the kind "%s"', (era) => {
  test('is listed and called, each time as a process of its own that is gone afterwards', async () => {
    const server = peer(era);
    const listed = await remote.listTools(server, nobody, never);
    expect(listed).toMatchObject({ kind: 'tools' });
    const words = ['one', 'two', 'three'];
    const outcomes = await Promise.all(
      words.map((text, index) => call(server, 'echo', { arguments: { text }, callId: `c${index}` })),
    );
    expect(outcomes).toMatchObject(
      words.map((text) => ({ kind: 'result', result: { content: [{ text }] } })),
    );
    // Only the first one had to find out which era it is.
    const pids = (await lines()).map(Number);
    expect(pids).toHaveLength(era === 'touchy' ? 5 : 4);
    await gone(...pids);
  });
});

test('progress is heard', async () => {
  const heard: unknown[] = [];
  await call(peer('both'), 'work', { onProgress: (progress) => heard.push(progress) });
  expect(heard).toEqual([
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ]);
});

test('it sees the variables and the folder it was given, and nothing of ours', async () => {
  process.env['INTERLUDE_TEST_SECRET'] = 's3cret';
  const outcome = await call(peer('both'), 'environment');
  delete process.env['INTERLUDE_TEST_SECRET'];
  const [block] = outcome.kind === 'result' ? (outcome.result.content ?? []) : [];
  const seen = JSON.parse(block?.type === 'text' ? block.text : '{}') as {
    variables: Record<string, string>;
    cwd: string;
  };
  expect(seen.cwd).toBe(folder);
  expect(Object.keys(seen.variables).sort()).toEqual(['PATH', 'STARTS']);
});

test('what it has started ends with it', async () => {
  const outcome = await call(peer('both'), 'family');
  const [block] = outcome.kind === 'result' ? (outcome.result.content ?? []) : [];
  const family = JSON.parse(block?.type === 'text' ? block.text : '[]') as number[];
  expect(family).toHaveLength(2);
  await gone(...family);
});

test('one that dies in the middle of a call leaves its outcome unknown', async () => {
  const reports: ProcessExit[] = [];
  const outcome = await call(peer('both'), 'die', { onProcessExit: (report) => reports.push(report) });
  expect(outcome).toMatchObject({
    kind: 'unknown',
    message: expect.stringContaining('Files (this machine) ended before it had answered (exit code 7).'),
  });
  expect(reports).toMatchObject([
    { exitCode: 7, signal: null, stderrEnd: 'a secret on stderr\n', isFailure: true },
  ]);
  expect(JSON.stringify(outcome)).not.toContain('secret');
});

describe('one that hears nothing, neither the end of its input nor that it is to stop,', () => {
  test.each(['cancelled', 'out of time'])('is made to when its call is %s', async (why) => {
    const controller = new AbortController();
    const server = peer('both', { timeout: why === 'cancelled' ? 20_000 : 3_000 });
    const outcome = call(server, 'hang', { signal: controller.signal });
    await expect.poll(lines).toContain('hanging');
    if (why === 'cancelled') controller.abort();
    expect(await outcome).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining(why === 'cancelled' ? 'was cancelled' : 'within 3 s'),
    });
    await gone(Number((await lines())[0]));
  });
});

test('one that is still starting when its call is given up did not run, and is gone', async () => {
  const server = inline(
    `require('fs').appendFileSync(${JSON.stringify(starts)}, process.pid + '\\n'); setInterval(() => {}, 1000)`,
  );
  const controller = new AbortController();
  const outcome = call(server, 'echo', { signal: controller.signal });
  await expect.poll(lines).toHaveLength(1);
  controller.abort();
  expect(await outcome).toMatchObject({ kind: 'unreachable' });
  await gone(Number((await lines())[0]));
});

describe('the tool certainly did not run, and the reason is precise,', () => {
  test.each<[string, () => ServerConfig | Promise<ServerConfig>, string]>([
    [
      'when there is no such command',
      () => program('no-such-command', []),
      'Files (this machine) cannot be started: command not found: no-such-command. The operator should install it,',
    ],
    [
      'when it may not be executed',
      async () => {
        await writeFile(path.join(folder, 'plain.txt'), 'text');
        return program(path.join(folder, 'plain.txt'), []);
      },
      'plain.txt may not be executed.',
    ],
    [
      'when its folder is gone',
      () => {
        const server = program('node', []);
        const gone = path.join(folder, 'gone');
        return { ...server, process: { command: 'node', args: [], env: {}, cwd: gone } };
      },
      `there is no folder ${path.join('', 'tmp')}`,
    ],
    ['when it ends at once', () => inline('process.exit(3)'), 'ended before it had answered (exit code 3)'],
    ['when it is killed', () => inline('process.kill(process.pid, "SIGKILL")'), '(SIGKILL)'],
    [
      'when it is something else',
      () => inline('console.log("hello"); process.stdin.resume()'),
      'did not answer within 1 s',
    ],
  ])('%s', async (_, server, words) => {
    const reason = words.startsWith('there is no folder') ? 'there is no folder' : words;
    // A busy machine may take seconds to start a program; only the one that never answers is not waited for.
    const timeout = words.startsWith('did not answer') ? 1_000 : 30_000;
    expect(await call({ ...(await server()), timeout }, 'echo')).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(reason),
    });
  });
});

test('an answer without end is not read to its end', async () => {
  const outcome = await call(peer('both'), 'flood', { arguments: { megabytes: 12 } });
  expect(outcome).toMatchObject({ kind: 'unknown', message: expect.stringContaining('larger than 10 MB') });
});

test('an answer of some megabytes is read whole', async () => {
  const outcome = await call(peer('both'), 'flood', { arguments: { megabytes: 8 } });
  expect(outcome.kind).toBe('result');
});

test('of what it pours into its standard error only the end is kept', async () => {
  const noisy = `
    const line = 'x'.repeat(1023) + '\\n';
    let left = 20_000;
    const pour = () => { while (left-- > 0) if (!process.stderr.write(line)) return process.stderr.once('drain', pour); process.stderr.write('the end', () => process.exit(5)); };
    pour();`;
  const reports: ProcessExit[] = [];
  await call(inline(noisy), 'echo', { onProcessExit: (report) => reports.push(report) });
  const [report] = reports;
  expect(report?.stderrBytes).toBeGreaterThan(20_000_000);
  expect(report?.stderrEnd.length).toBe(4_096);
  expect(report?.stderrEnd).toMatch(/x\nthe end$/);
});

test('one that leaves somebody behind who holds on to its output has ended all the same', async () => {
  const code = `
    const { spawn } = require('child_process');
    const child = spawn('sleep', ['600'], { stdio: 'inherit', detached: true });
    require('fs').appendFileSync(${JSON.stringify(starts)}, child.pid + '\\n');
    process.exit(4);`;
  const outcome = await call(inline(code), 'echo');
  const [left] = await lines();
  process.kill(Number(left), 'SIGKILL');
  expect(outcome).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('exit code 4') });
});

describe('the reference server of MCP, as a program', () => {
  const everything = () => {
    const module = '../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js';
    return program(process.execPath, [fileURLToPath(new URL(module, import.meta.url)), 'stdio']);
  };

  test('is listed, called and heard', async () => {
    const server = everything();
    const listed = await remote.listTools(server, nobody, never);
    const names = listed.kind === 'tools' ? listed.tools.map(({ name }) => name) : [];
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-tiny-image']));

    const heard: number[] = [];
    let changes = 0;
    const outcome = await call(server, 'trigger-long-running-operation', {
      arguments: { duration: 0.3, steps: 3 },
      onProgress: ({ progress }) => heard.push(progress),
      onToolsChanged: () => changes++,
    });
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(heard).toEqual([1, 2, 3]);
    // It says so twice, and once before it was even greeted.
    expect(changes).toBe(1);
  });

  test('sees nothing of our environment', async () => {
    const outcome = await call(everything(), 'get-env');
    const [block] = outcome.kind === 'result' ? (outcome.result.content ?? []) : [];
    const seen = JSON.parse(block?.type === 'text' ? block.text : '{}') as object;
    expect(Object.keys(seen).sort()).toEqual(['PATH', 'STARTS']);
  });

  test('asks, and gets the answer while it is kept', async () => {
    const asked: ServerQuestion[] = [];
    const outcome = await call(everything(), 'trigger-elicitation-request', {
      capabilities: { form: true, url: false },
      askUser: {
        ask(question) {
          asked.push(question);
          return Promise.resolve({
            kind: 'answer',
            outcome: 'decline',
            answer: { key: question.key, action: 'decline' },
          });
        },
        pageDone: () => undefined,
      },
    });
    expect(asked).toMatchObject([{ request: { mode: 'form' } }]);
    expect(JSON.stringify(outcome)).toContain('declined');
  });
});

describe('what is left of it when we end,', () => {
  async function caller(tool: string) {
    const code = `
      import { openRemoteServers } from ${JSON.stringify(new URL('../../../../src/remote/open-remote-servers.ts', import.meta.url).href)};
      const nobody = { kind: 'credential', headers: {}, version: 0 };
      process.stdin.once('data', () => process.exit(0));
      await openRemoteServers().callTool(${JSON.stringify(peer('both'))}, nobody, {
        name: ${JSON.stringify(tool)}, arguments: {}, callId: 'c1', signal: new AbortController().signal,
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['pipe', 'inherit', 'inherit'],
      cwd: path.dirname(path.dirname(script)),
    });
    await expect.poll(lines).toContain('hanging');
    return { child, pid: Number((await lines())[0]) };
  }

  test('although it hears nothing, is ended too', async () => {
    const { child, pid } = await caller('hang');
    child.stdin.write('end\n');
    await gone(pid);
  });

  test('even by a kill, ends by itself if it minds its input', async () => {
    const { child, pid } = await caller('wait');
    child.kill('SIGKILL');
    await gone(pid);
  });
});

test.each(['both', 'old', 'touchy'])(
  'the end of a server of the kind "%s" that did its work is no failure',
  async (era) => {
    const reports: ProcessExit[] = [];
    const onProcessExit = (report: ProcessExit) => void reports.push(report);
    expect(await call(peer(era), 'echo', { arguments: { text: 'hi' }, onProcessExit })).toMatchObject({
      kind: 'result',
    });
    await expect.poll(() => reports.length).toBe(era === 'touchy' ? 2 : 1);
    expect(reports.filter(({ isFailure }) => isFailure)).toEqual([]);
  },
);

test.each([
  ['ends at once', 'console.error("no config"); process.exit(3)'],
  ['says nothing that is MCP', 'console.error("usage: …"); setInterval(() => {}, 1000)'],
])('one that %s is reported as a failure', async (_, code) => {
  const reports: ProcessExit[] = [];
  const onProcessExit = (report: ProcessExit) => void reports.push(report);
  const outcome = await call({ ...inline(code), timeout: 1_000 }, 'echo', { onProcessExit });
  expect(outcome.kind).toBe('unreachable');
  await expect.poll(() => reports.some(({ isFailure }) => isFailure)).toBe(true);
});
