/** Connections to Temporal follow changes, without a restart: of certificates, API keys, and the address. */
import { readFileSync, writeFileSync } from 'node:fs';
import dns from 'node:dns';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createServer, rootCertificates } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import {
  clientBeside,
  connectClient,
  connectWorker,
  whenTlsChanges,
} from '../../../src/platform/temporal/connection.ts';
import { startDevelopmentServer } from '../../development-server.ts';
import { freePort } from '../../free-port.ts';
import { startTemporalGate } from '../../servers/temporal-gate.ts';
import { testFolder } from '../../test-folder.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');

async function temporalAddress(): Promise<string> {
  const server = await startDevelopmentServer();
  onTestFinished(() => server.stop());
  return server.address;
}

function configFor(env: Record<string, string>) {
  const folder = testFolder();
  const agents = new URL('../../fixtures/agents.yaml', import.meta.url).pathname;
  const keys = `k1:${Buffer.alloc(32).toString('base64')}`;
  const own = { INTERLUDE_CONFIG: agents, INTERLUDE_KEYS: keys, TRACKER_URL: 'http://127.0.0.1:9/mcp' };
  return loadConfig({ ...own, ...env }, folder).temporal;
}

test('a call that would be repeated after the connection was closed fails', async () => {
  const { client, close } = connectClient(configFor({ TEMPORAL_ADDRESS: '127.0.0.1:9' }));
  const call = client.workflowService.describeNamespace({ namespace: 'default' });
  void setTimeout(150).then(close);
  await expect(call).rejects.toThrow(/CANCELLED.*shut down/);
});

test('a certificate that is trusted from now on is trusted by a client that has failed before', async () => {
  const address = await temporalAddress();
  const [, port] = address.split(':');
  const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem'), ALPNProtocols: ['h2'] };
  const front = createServer(tls, (near) => {
    const far = connect(Number(port), '127.0.0.1');
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  const ca = path.join(testFolder(), 'ca.pem');
  writeFileSync(ca, rootCertificates[0] ?? '');
  const config = configFor({
    TEMPORAL_ADDRESS: `127.0.0.1:${(front.address() as AddressInfo).port}`,
    TEMPORAL_TLS_SERVER_NAME: 'guarded.example',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
  });
  const { client, close } = connectClient(config);
  const list = () =>
    client.withDeadline(Date.now() + 3_000, () =>
      client.workflowService.describeNamespace({ namespace: 'default' }),
    );
  await expect(list()).rejects.toThrow(/DEADLINE_EXCEEDED|UNAVAILABLE/);
  await expect(connectWorker(config)).rejects.toMatchObject({ name: 'TemporalUnreachable' });
  const changed = Promise.withResolvers<void>();
  whenTlsChanges(config, changed.resolve);
  writeFileSync(ca, fixture('certificate.pem'));
  expect((await list()).namespaceInfo?.name).toBe('default');
  await changed.promise;
  // Beside a worker, too, in any state of its own connection.
  const worker = await connectWorker(configFor({ TEMPORAL_ADDRESS: address }));
  const beside = clientBeside(worker, config, {});
  expect(beside.isShared).toBe(false);
  await beside.client.workflowService.describeNamespace({ namespace: 'default' });
  await beside.close();
  await worker.close();
  await close();
});

test.runIf(process.platform === 'linux')(
  'Temporal is soon found again when its name leads to another address',
  async () => {
    const to = Number((await temporalAddress()).split(':')[1]);
    const port = await freePort();
    const fronts: { close(): void }[] = [];
    onTestFinished(() => fronts.forEach((front) => front.close()));
    const frontAt = async (address: string) => {
      const nears = new Set<Socket>();
      const front = createTcpServer((near) => {
        nears.add(near);
        const far = connect(to, '127.0.0.1');
        near.on('error', () => far.destroy()).pipe(far);
        far.on('error', () => near.destroy()).pipe(near);
      });
      await new Promise<void>((resolve) => front.listen(port, address, resolve));
      const close = () => {
        front.close();
        nears.forEach((near) => near.destroy());
      };
      fronts.push({ close });
      return close;
    };
    let address = '127.0.0.1';
    const lookup = vi.spyOn(dns.promises, 'lookup');
    onTestFinished(() => lookup.mockRestore());
    lookup.mockImplementation(async () => [{ address, family: 4 }] as never);
    const { client, close } = connectClient(configFor({ TEMPORAL_ADDRESS: `temporal.example:${port}` }));
    onTestFinished(close);
    const list = () => client.workflowService.describeNamespace({ namespace: 'default' });
    const leave = await frontAt(address);
    await list();
    await frontAt('127.0.0.2');
    leave();
    address = '127.0.0.2';
    await client.withDeadline(Date.now() + 15_000, list);
  },
);

test('an API key that is replaced is used for the next call', async () => {
  const gate = await startTemporalGate(await temporalAddress(), 'first');
  onTestFinished(() => gate.stop());
  const file = path.join(testFolder(), 'key');
  writeFileSync(file, 'first');
  const config = configFor({
    TEMPORAL_ADDRESS: gate.address,
    TEMPORAL_TLS: 'false',
    TEMPORAL_API_KEY_FILE: file,
  });
  const { client, close } = connectClient(config);
  const worker = await connectWorker(config);
  expect(clientBeside(worker, config, {}).isShared).toBe(true);
  const asked = { namespace: 'default' };
  await client.workflowService.describeNamespace(asked);
  gate.accept('second');
  const refused = { code: 16 };
  await expect(client.workflowService.describeNamespace(asked)).rejects.toMatchObject(refused);
  await expect(worker.workflowService.describeNamespace(asked)).rejects.toMatchObject(refused);
  writeFileSync(file, 'second');
  await client.workflowService.describeNamespace(asked);
  await expect
    .poll(
      () =>
        worker.workflowService.describeNamespace(asked).then(
          () => 'answered',
          () => 'refused',
        ),
      {
        timeout: 10_000,
      },
    )
    .toBe('answered');
  await worker.close();
  await close();
});
