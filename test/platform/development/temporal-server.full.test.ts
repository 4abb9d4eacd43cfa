import { get } from 'node:http';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { requireNamespace } from '../../../src/platform/temporal/namespace.ts';
import { startTemporalServer, recordedServer } from '../../../src/platform/development/temporal-server.ts';
import { freePort } from '../../free-port.ts';
import { searchAttributes } from '../../../src/workflows/messages.ts';

const logger = pino({ level: 'silent' });
/** Ports that no other test is given meanwhile: the server takes them only after it has started. */
let temporal: { namespace: string; port: number; uiPort: number };
let dataDir: string;

beforeEach(async () => {
  temporal = { namespace: 'default', port: await freePort(), uiPort: await freePort() };
  dataDir = mkdtempSync(path.join(tmpdir(), 'interlude-temporal-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function clientOf(address: string): Promise<Client> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return new Client({ connection });
}

function startWorkflow(client: Client, workflowId: string) {
  return client.workflow.start('nobody-runs-this', {
    workflowId,
    taskQueue: 'none',
    typedSearchAttributes: [{ key: searchAttributes.agent, value: 'assistant' }],
  });
}

const isRunning = async (client: Client, workflowId: string) =>
  (await client.workflow.getHandle(workflowId).describe()).status.name;

/** Another process that owns a server, as a killed `npm start` does. */
async function startOwner(): Promise<{ owner: ChildProcess; address: string }> {
  const code = `
    const { startTemporalServer } = await import('./src/platform/development/temporal-server.ts');
    const { pino } = await import('pino');
    const { address } = await startTemporalServer({
      temporal: ${JSON.stringify(temporal)}, dataDir: ${JSON.stringify(dataDir)}, logger: pino({ level: 'silent' }) });
    console.log(address);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: path.resolve(import.meta.dirname, '../../..'),
  });
  onTestFinished(() => void owner.kill('SIGKILL'));
  const ended = once(owner, 'exit').then(([code]) =>
    Promise.reject(new Error(`The owner ended with ${code}`)),
  );
  const [chunk] = (await Promise.race([once(owner.stdout, 'data'), ended])) as [Buffer];
  return { owner, address: chunk.toString().trim() };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('what Temporal was told survives a stop and a start', async () => {
  const first = await startTemporalServer({ temporal, dataDir, logger });
  const client = await clientOf(first.address);
  await requireNamespace(client.connection, 'default');
  await requireNamespace(client.connection, 'default');
  await startWorkflow(client, 'kept');
  expect((await fetch(first.uiUrl)).status).toBe(200);
  const namespaces = `${first.uiUrl}/api/v1/namespaces`;
  await vi.waitFor(async () => expect((await fetch(namespaces)).status).toBe(200));
  expect(await statusAs('evil.example', first.uiUrl)).toBe(421);
  await first.stop();
  await expect(fetch(first.uiUrl)).rejects.toThrow('fetch failed');
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('temporal.'));
  expect(files).toEqual(expect.arrayContaining(['temporal.db', 'temporal.json']));
  expect(await Promise.all(files.map(modeOf))).toEqual(files.map(() => 0o600));
  // As older versions left them.
  await Promise.all(files.map((name) => chmod(path.join(dataDir, name), 0o644)));
  await chmod(dataDir, 0o755);

  const second = await startTemporalServer({ temporal, dataDir, logger });
  onTestFinished(() => second.stop());
  const kept = (await readdir(dataDir)).filter((name) => name.startsWith('temporal.db'));
  expect(await Promise.all(['.', ...kept].map(modeOf))).toEqual([0o700, ...kept.map(() => 0o600)]);
  expect(await isRunning(await clientOf(second.address), 'kept')).toBe('RUNNING');
});

test('a killed server is started again at the same address and forgets nothing', async () => {
  const server = await startTemporalServer({ temporal, dataDir, logger });
  onTestFinished(() => server.stop());
  const client = await clientOf(server.address);
  await requireNamespace(client.connection, 'default');
  await startWorkflow(client, 'kept');
  const killed = recordedServer(dataDir) ?? 0;

  process.kill(killed, 'SIGKILL');
  await vi.waitFor(() => expect(recordedServer(dataDir)).not.toBe(killed));
  await vi.waitFor(async () => expect(await isRunning(client, 'kept')).toBe('RUNNING'));
});

test('a server dies with its killed owner, and the next start goes on with its data', async () => {
  const { owner, address } = await startOwner();
  const orphan = recordedServer(dataDir) ?? 0;
  expect(isAlive(orphan)).toBe(true);
  const client = await clientOf(address);
  await requireNamespace(client.connection, 'default');
  await startWorkflow(client, 'kept');

  owner.kill('SIGKILL');
  await vi.waitFor(() => expect(isAlive(orphan)).toBe(false));

  const next = await startTemporalServer({ temporal, dataDir, logger });
  onTestFinished(() => next.stop());
  expect(await isRunning(await clientOf(next.address), 'kept')).toBe('RUNNING');
});

test('a server that cannot start at all is said to be so, and not started again and again', async () => {
  writeFileSync(
    path.join(dataDir, 'temporal.db'),
    'this is no database, however one looks at it'.repeat(100),
  );
  const log: string[] = [];
  const listening = pino({ level: 'info' }, { write: (line) => void log.push(line) });
  await expect(startTemporalServer({ temporal, dataDir, logger: listening })).rejects.toThrow(
    /did not start: it ended with/,
  );
  expect(log.join()).not.toContain('starting it again');
});

test('two on one data folder: the second is refused and told who has it', async () => {
  const { owner } = await startOwner();
  await expect(startTemporalServer({ temporal, dataDir, logger })).rejects.toThrow(
    `already running on the data in ${dataDir} (process ${owner.pid})`,
  );
});

test('a port that was asked for and is taken is named together with its variable', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const start = startTemporalServer({ temporal: { ...temporal, uiPort: port }, dataDir, logger });
  await expect(start).rejects.toThrow(`A port is taken:\n  • ${port} (TEMPORAL_UI_PORT)\n`);
});

function statusAs(host: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).once(
      'error',
      reject,
    );
  });
}

async function modeOf(name: string): Promise<number> {
  return (await stat(path.join(dataDir, name))).mode & 0o777;
}
