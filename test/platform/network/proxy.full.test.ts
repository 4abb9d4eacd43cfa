/**
 * Behind a corporate proxy, with a private certificate authority: a real Tinyproxy, which alone knows the name of the server, and a
 * process that makes every kind of outgoing connection.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../free-port.ts';
import { findProgram } from '../../programs/find-program.ts';
import { testFolder } from '../../test-folder.ts';

const run = promisify(execFile);
const fixture = (name: string) => path.join(import.meta.dirname, '../../fixtures/tls', name);
const name = 'guarded.example';

/** A server of everything; records the paths that were asked for. */
async function startUpstream() {
  const paths: string[] = [];
  const tls = { key: readFileSync(fixture('key.pem')), cert: readFileSync(fixture('certificate.pem')) };
  const server = createTlsServer(tls, (request, response) => {
    const at = request.url ?? '';
    if (at !== '/seen') paths.push(at.replace(/\?.*/, ''));
    response.setHeader('content-type', 'application/json');
    const url = `wss://${name}:${port}/socket`;
    response.end(JSON.stringify(at === '/seen' ? paths : { ok: true, url }));
  });
  server.on('upgrade', (request, socket) => {
    paths.push(request.url ?? '');
    socket.destroy();
  });
  // Only who connects is of interest.
  const [forApi, forWorker] = ['API', 'worker'].map((who) =>
    createServer((socket) => {
      paths.push(`Temporal, ${who}`);
      socket.destroy();
    }),
  );
  for (const one of [server, forApi!, forWorker!]) {
    one.listen(0, '127.0.0.1');
    await once(one, 'listening');
    onTestFinished(() => void one.close());
  }
  const portOf = (one: { address(): unknown }) => (one.address() as AddressInfo).port;
  const port = portOf(server);
  return {
    paths,
    addresses: [`https://${name}:${port}`, `${name}:${portOf(forApi!)}`, `${name}:${portOf(forWorker!)}`],
  };
}

/** Tinyproxy with host names of its own, and a password. Undefined where it cannot be had. */
async function startProxy() {
  const found = await findProgram({
    given: 'TINYPROXY_PATH',
    names: [],
    package: 'tinyproxy-bin libnss-wrapper',
    executable: 'usr/bin/tinyproxy',
    version: '-v',
  });
  if (found.kind === 'missing') {
    process.stderr.write(`No Tinyproxy: ${found.why}\n`);
    return undefined;
  }
  const folder = testFolder();
  const file = (one: string) => path.join(folder, one);
  const port = await freePort();
  const settings = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 600',
    'LogLevel Connect',
    'BasicAuth worker secret',
  ];
  await writeFile(file('conf'), `${settings.join('\n')}\nLogFile "${file('log')}"\n`);
  await writeFile(file('hosts'), `127.0.0.1 ${name}\n`);
  const child = spawn(found.executable, ['-d', '-c', file('conf')], {
    env: { ...process.env, ...found.env, LD_PRELOAD: 'libnss_wrapper.so', NSS_WRAPPER_HOSTS: file('hosts') },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  });
  while (!(await reaches(port))) await sleep(50);
  return { url: `http://worker:secret@127.0.0.1:${port}`, log: () => readFile(file('log'), 'utf8') };
}

async function reaches(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** What was refused, by kind of connection. */
async function connectAll({ addresses }: { addresses: string[] }, env: NodeJS.ProcessEnv) {
  const program = path.join(import.meta.dirname, 'fixtures/outgoing.ts');
  const { stdout } = await run(process.execPath, [program, ...addresses], {
    env: { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: fixture('certificate.pem'), ...env },
  });
  return JSON.parse(stdout) as Record<string, string>;
}

test('every outgoing connection uses the proxy and trusts the private authority', async ({ skip }) => {
  const proxy = await startProxy();
  if (!proxy) return skip('there is no Tinyproxy');
  const upstream = await startUpstream();
  const refused = await connectAll(upstream, { HTTPS_PROXY: proxy.url });
  expect([...new Set(upstream.paths)].toSorted()).toEqual([
    '/api/apps.connections.open',
    '/api/auth.test',
    '/collector/v1/metrics',
    '/collector/v1/traces',
    '/connections/one',
    '/issuer/.well-known/openid-configuration',
    '/mcp',
    '/model',
    '/oauth',
    '/push',
    '/socket',
    '/token',
    'Temporal, API',
    'Temporal, worker',
  ]);
  // The guard against addresses inside is in force.
  expect(refused).toMatchObject({
    'an address inside, for another server': expect.stringContaining('is not at an address of the internet'),
    'a local name, for another server': expect.stringContaining('is not at an address of the internet'),
    'a metadata service, as a target': 'its address is not allowed',
    'a name that is inside, for another server': expect.stringContaining('AddressRefused'),
  });
  expect(await proxy.log()).toContain(`CONNECT ${name}`);
});

test('what NO_PROXY names is reached without the proxy', async ({ skip }) => {
  const proxy = await startProxy();
  if (!proxy) return skip('there is no Tinyproxy');
  const upstream = await startUpstream();
  // Only the proxy knows the name.
  const refused = await connectAll(upstream, { https_proxy: proxy.url, NO_PROXY: `.example` });
  expect(upstream.paths).toEqual([]);
  expect(refused['an MCP server']).toContain('ENOTFOUND');
});
