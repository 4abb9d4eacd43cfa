/** A client over a worker's native connection reads Temporal's answers, and the lack of one, as a client of its own does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import type { TemporalConfig } from '../../../src/platform/config/config.ts';
import { isOfTemporal, wasAnswered, wasRefused } from '../../../src/service/temporal-errors.ts';
import { clientOver, connectClient, connectWorker } from '../../../src/platform/temporal/connection.ts';
import { isTemporalOutage } from '../../../src/platform/temporal/outage.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { startTemporalGate } from '../../servers/temporal-gate.ts';

const temporal = useDevelopmentServer();

interface Clients {
  own: Client;
  native: Client;
}

async function clientsAt(address: string, more: Partial<TemporalConfig> = {}): Promise<Clients> {
  const config: TemporalConfig = {
    address,
    namespace: 'default',
    apiKey: undefined,
    tls: false,
    taskQueue: 'none',
    port: 0,
    uiPort: 0,
    deployment: { name: 'none', buildId: undefined },
    ...more,
  };
  const own = connectClient(config);
  onTestFinished(() => own.close());
  const connection = await connectWorker(config);
  onTestFinished(() => connection.close());
  return { own: own.client, native: clientOver(connection, config) };
}

async function readingOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  return {
    kind: isOfTemporal(error) ? 'of Temporal' : (error as Error).name,
    wasAnswered: wasAnswered(error),
    wasRefused: wasRefused(error),
    isOutage: isTemporalOutage(error),
  };
}

const start = (client: Client, workflowId: string = randomUUID()) =>
  client.workflow.start('none', {
    taskQueue: 'none',
    workflowId,
    workflowIdConflictPolicy: 'FAIL',
    workflowRunTimeout: 1_000,
    args: [],
  });

const refusedCalls: Record<string, (client: Client) => Promise<unknown>> = {
  'signal to no workflow': (client) => client.workflow.getHandle('none').signal('s'),
  'look at no workflow': (client) => client.workflow.getHandle('none').describe(),
  'malformed start': (client) => start(client, 'x'.repeat(2_000)),
  'look at no version': (client) =>
    client.workflowService.describeWorkerDeploymentVersion({
      namespace: 'default',
      deploymentVersion: { deploymentName: 'none', buildId: 'none' },
    }),
  'second start': async (client) => {
    const workflowId = randomUUID();
    await start(client, workflowId);
    return start(client, workflowId);
  },
};

test.each(Object.entries(refusedCalls))('an answer that refuses is read the same: %s', async (_, call) => {
  const { own, native } = await clientsAt(temporal.address);
  const [expected, found] = await Promise.all([call(own), call(native)].map(readingOf));
  expect(found).toEqual(expected);
});

const inMissingNamespace: Record<string, (client: Client) => Promise<unknown>> = {
  start: (client) => start(client),
  signal: (client) => client.workflow.getHandle('none').signal('s'),
  look: (client) => client.workflowService.describeNamespace({ namespace: 'missing' }),
};

test.each(Object.entries(inMissingNamespace))(
  'a missing namespace is no missing workflow: %s',
  async (_, call) => {
    const { own, native } = await clientsAt(temporal.address, { namespace: 'missing' });
    const [expected, found] = await Promise.all([call(own), call(native)].map(readingOf));
    expect(expected).toEqual({ kind: 'of Temporal', wasAnswered: true, wasRefused: true, isOutage: false });
    expect(found).toEqual(expected);
  },
);

const deadlineMs = 1_000;
const unanswered = { kind: 'of Temporal', wasAnswered: false, wasRefused: false, isOutage: true };

const losses = {
  'does not answer': (proxy: Proxy) => proxy.stall(),
  'refuses connections': (proxy: Proxy) => {
    proxy.refuse();
    proxy.cut();
  },
};
type Proxy = Awaited<ReturnType<typeof startTcpProxy>>;

test.each(Object.entries(losses))(
  'a Temporal that %s is one without an answer, at the deadline',
  async (_, lose) => {
    const proxy = await startTcpProxy({ to: Number(temporal.address.split(':').at(-1)) });
    onTestFinished(() => proxy.stop());
    const { own, native } = await clientsAt(`127.0.0.1:${proxy.port}`);
    const look = (client: Client) =>
      client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflowService.describeNamespace({ namespace: 'default' }),
      );
    await Promise.all([own, native].map(look));
    lose(proxy);
    const ended: string[] = [];
    const both = Promise.all(
      [own, native].map((client) => readingOf(look(client).finally(() => ended.push('call')))),
    );
    // Its own retries would go on for ten seconds.
    await sleep(4 * deadlineMs);
    expect(ended).toHaveLength(2);
    expect(await both).toEqual([unanswered, unanswered]);
    proxy.goOn();
    proxy.accept();
    expect(
      (await native.workflowService.describeNamespace({ namespace: 'default' })).namespaceInfo?.name,
    ).toBe('default');
  },
  30_000,
);

test('a login that is refused is read the same, and a key that is replaced is used', async () => {
  const gate = await startTemporalGate(temporal.address, 'first');
  onTestFinished(() => gate.stop());
  let apiKey = 'first';
  const { own, native } = await clientsAt(gate.address, {
    apiKey,
    currentLogin: () => ({ apiKey, tls: false }),
  });
  const look = (client: Client) => client.workflow.getHandle('none').describe();
  const [notFound] = await Promise.all([own, native].map((client) => readingOf(look(client))));
  gate.accept('second');
  const [expected, found] = await Promise.all([own, native].map((client) => readingOf(look(client))));
  expect(expected).toEqual({ kind: 'of Temporal', wasAnswered: true, wasRefused: true, isOutage: true });
  expect(found).toEqual(expected);
  apiKey = 'second';
  await expect.poll(() => readingOf(look(native))).toEqual(notFound);
});

test('a connection that is closed under a call ends neither the process nor the call late', async () => {
  const proxy = await startTcpProxy({ to: Number(temporal.address.split(':').at(-1)) });
  onTestFinished(() => proxy.stop());
  const config = { address: `127.0.0.1:${proxy.port}`, namespace: 'default' };
  const connection = await connectWorker({ ...config, apiKey: undefined, tls: false } as TemporalConfig);
  const client = clientOver(connection, config);
  proxy.refuse();
  proxy.cut();
  const call = client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeNamespace({ namespace: 'default' }),
  );
  await connection.close();
  expect(await readingOf(call)).toEqual(unanswered);
});
