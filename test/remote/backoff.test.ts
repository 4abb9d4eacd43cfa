/** Servers that cannot be reached: how long they are left alone, what the log says of them, what turns wait for. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createBackoff, createCatalogue } from '../../src/remote/catalogue.ts';
import { openRemoteServers } from '../../src/remote/open-remote-servers.ts';
import { redactSecrets } from '../../src/remote/log-process-exit.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { serverConfig } from '../servers/mcp-server.ts';

const alice = { tenant: 'demo', user: 'alice' };
const server = serverConfig('http://127.0.0.1:9/mcp', { name: 'files', credentialScope: 'none' });
const down = { code: 'busy', server: 'Files' } as const;

test('each failure doubles the time, up to a limit, and a success ends it', () => {
  let now = 0;
  const away = createBackoff({ firstMs: 5_000, longestMs: 30_000, now: () => now });
  expect(away.reason(server)).toBeNull();
  const waits: number[] = [];
  for (let count = 0; count < 5; count++) {
    waits.push(away.failed(server, down));
    expect(away.reason(server)).toBe(down);
    // Of two that were under way at the same time, the second says nothing new.
    expect(away.failed(server, down)).toBe(waits.at(-1));
    now += (waits.at(-1) ?? 0) - 1;
    expect(away.reason(server)).toBe(down);
    now += 1;
    expect(away.reason(server)).toBeNull();
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 30_000, 30_000]);
  away.reached(server);
  expect(away.failed(server, down)).toBe(5_000);
  expect(away.reason({ ...server, name: 'other' })).toBeNull();
});

async function openCatalogue(options: { now?: () => number; listTimeoutMs?: number } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'back-off-'));
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'test.db') });
  onTestFinished(async () => {
    await storage.close();
    await rm(folder, { recursive: true });
  });
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const { now = Date.now, listTimeoutMs = 5_000 } = options;
  const backoff = createBackoff({ now });
  const remote = openRemoteServers();
  const catalogue = createCatalogue({ storage, remote, logger: pino({}, { write }), backoff, listTimeoutMs });
  return { folder, catalogue, lines, warnings: () => lines.map(({ msg }) => String(msg)) };
}

const peer = fileURLToPath(new URL('../servers/stdio-server.ts', import.meta.url));

test('a process that cannot start is named with its last words, left alone for a while, and found again', async () => {
  let now = 0;
  const { folder, catalogue, lines, warnings } = await openCatalogue({ now: () => now });
  const starts = path.join(folder, 'starts');
  const broken = path.join(folder, 'broken');
  writeFileSync(broken, '');
  const code = `
    const { appendFileSync, existsSync } = require('node:fs');
    appendFileSync(${JSON.stringify(starts)}, 'x');
    if (!existsSync(${JSON.stringify(broken)})) import(${JSON.stringify(peer)});
    else {
      console.error('connecting to https://bob:hunter2@files.example with ' + process.env.FILES_TOKEN);
      console.error('Error: the folder is not there');
      process.exitCode = 3;
    }`;
  const token = 'tok-1234567';
  const files = serverConfig('stdio://files', {
    name: 'files',
    title: 'Files',
    credentialScope: 'none',
    process: {
      command: process.execPath,
      args: ['-e', code],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', FILES_TOKEN: token },
    },
  });
  const started = () => (existsSync(starts) ? readFileSync(starts, 'utf8').length : 0);

  expect(await catalogue.toolsFor(alice, [files])).toEqual([]);
  await expect.poll(() => warnings().some((words) => words.includes('cannot be listed'))).toBe(true);
  const words = warnings().join('\n');
  expect(words).toContain('the process of server "files" failed (exit code 3)');
  expect(words).toContain('Error: the folder is not there');
  expect(words).toContain('the tools of server "files" cannot be listed; it is not tried again for 5 s');
  expect(lines.find(({ reason }) => reason)?.['reason']).toContain('exit code 3');
  expect(JSON.stringify(lines)).not.toMatch(/hunter2|tok-1234567/);

  const before = started();
  for (let step = 0; step < 5; step++) expect(await catalogue.toolsFor(alice, [files])).toEqual([]);
  expect(started()).toBe(before);
  expect(catalogue.backoff.reason(files)).toMatchObject({ code: 'process_ended', how: 'exit code 3' });

  await rm(broken);
  now += 5_000;
  expect((await catalogue.toolsFor(alice, [files])).map(({ tool }) => tool)).toContain('echo');
  expect(catalogue.backoff.reason(files)).toBeNull();
});

test('one that hangs is waited for once, however many steps there are meanwhile', async () => {
  const { folder, catalogue, warnings } = await openCatalogue({ listTimeoutMs: 200 });
  const hanging = serverConfig('stdio://files', {
    name: 'files',
    credentialScope: 'none',
    timeout: 60_000,
    process: { command: 'sleep', args: ['600'], cwd: folder, env: { PATH: process.env['PATH'] ?? '' } },
  });
  for (let step = 0; step < 5; step++) expect(await catalogue.toolsFor(alice, [hanging])).toEqual([]);
  expect(warnings()).toEqual([
    'server "files" has not listed its tools within 0.2 s; turns do without them until it has',
  ]);
});

test('a server on the network that is down is left alone in the same way', async () => {
  const { catalogue, warnings } = await openCatalogue();
  for (let step = 0; step < 3; step++) await catalogue.toolsFor(alice, [server]);
  expect(warnings()).toEqual(['the tools of server "files" cannot be listed; it is not tried again for 5 s']);
});

test.each([
  ['GET https://bob:hunter2@files.example/x', 'GET https://[hidden]@files.example/x'],
  ['authorization: Bearer abcdef123456', 'authorization: [hidden]'],
  ['bad "api_key": "s3cr3t-value"', 'bad "api_key": [hidden]"'],
  ['401 for ghp_1234567890abcdef', '401 for [hidden]'],
  ['the given one is own-secret-1', 'the given one is [hidden]'],
  ['argument --token=argh-1234 refused', 'argument --token=[hidden] refused'],
  ['argument other-5678 refused', 'argument [hidden] refused'],
  ['npm error 404 files-mcp@1.2.3 in /usr/bin', 'npm error 404 files-mcp@1.2.3 in /usr/bin'],
])('of "%s" the log has "%s"', (text, expected) => {
  const given = {
    env: { PATH: '/usr/bin', FILES_KEY: 'own-secret-1' },
    args: ['-y', 'files-mcp@1.2.3', '--token=argh-1234', '--password', 'other-5678'],
  };
  expect(redactSecrets(text, given)).toBe(expected);
});
