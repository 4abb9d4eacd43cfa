/** What operators' probes read of a process, and that a process which finds its database away waits for it. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openDependencies } from '../../../src/platform/processes/dependencies.ts';
import { startInternalServer } from '../../../src/platform/processes/internal-server.ts';
import { startWhenReachable } from '../../../src/platform/processes/run-process.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { someKeys } from '../../e2e/deployment.ts';
import { freePort } from '../../free-port.ts';
import { postgresUrl } from '../../postgres.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { testFolder } from '../../test-folder.ts';

const logger = pino({ level: 'silent' });

function opened() {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  return stack;
}

test('a process that starts is alive, not ready, and then says what it is given to say', async () => {
  const port = await freePort();
  const { report } = await startInternalServer({ internal: { host: '127.0.0.1', port } }, opened());
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.json()];
  };
  expect(await get('/healthz')).toEqual([200, { status: 'ok' }]);
  expect(await get('/readyz')).toMatchObject([503, { status: 'not ready', notReady: [{}], warnings: [] }]);
  const warnings = [{ name: 'temporal' as const, detail: 'Temporal does not answer' }];
  report(async () => ({ notReady: [], warnings }));
  expect(await get('/readyz')).toEqual([200, { status: 'ready', warnings }]);
  expect(await get('/run/api/chat')).toMatchObject([404, { code: 'not_found' }]);
});

test('a port that is taken is named, with what answers there; without a port nothing listens', async () => {
  const internal = { host: '127.0.0.1', port: await freePort() };
  await startInternalServer({ internal }, opened());
  await expect(startInternalServer({ internal }, opened())).rejects.toThrow(
    `A port is taken:\n  • ${internal.port} (INTERNAL_PORT): an Interlude answers there\nInterlude is running already, at http://127.0.0.1:${internal.port}: use that one, or stop it first. For another one beside it, set INTERNAL_PORT to a free port.`,
  );
  const { app } = await startInternalServer({ internal: undefined }, opened());
  expect(app.server.listening).toBe(false);
});

async function config(changes: Record<string, string>) {
  const folder = testFolder();
  const agents = new URL('../../fixtures/agents.yaml', import.meta.url).pathname;
  const env = { INTERLUDE_CONFIG: agents, INTERLUDE_KEYS: someKeys, TRACKER_URL: 'http://127.0.0.1:9/mcp' };
  return loadConfig({ ...env, ...changes }, folder);
}

test('the database is away at start: the attempt is repeated until it answers, and what failed attempts opened is closed', async () => {
  const url = new URL(await postgresUrl());
  const line = await startTcpProxy({ to: Number(url.port) });
  line.refuse();
  url.port = String(line.port);
  const given = await config({ DATABASE_URL: url.href });
  const stack = opened();
  const said: string[] = [];
  let attempts = 0;
  let open = 0;
  const starting = startWhenReachable(
    async (attempt) => {
      attempts += 1;
      open += 1;
      attempt.defer(() => void (open -= 1));
      const { storage } = await openDependencies(given, logger);
      attempt.defer(() => storage.close());
    },
    stack,
    {
      logger,
      signal: new AbortController().signal,
      internal: {
        report: (readiness) =>
          void readiness().then(({ notReady }) => {
            said.push(...notReady.map(({ detail }) => detail));
            line.accept();
          }),
      },
    },
  );
  await starting;
  expect(said).toEqual(['the database does not answer (ECONNRESET); check DATABASE_URL']);
  expect([attempts, open]).toEqual([2, 1]);
  await stack.disposeAsync();
  expect(open).toBe(0);
  await line.stop();
});

test('a process that is told to stop does not wait any longer, and a mistake is not waited for', async () => {
  const stopping = new AbortController();
  const internal = { report: () => stopping.abort() };
  const given = await config({ DATABASE_URL: `postgres://u:p@127.0.0.1:${await freePort()}/none` });
  const open = async () => void (await openDependencies(given, logger));
  const options = { logger, signal: stopping.signal, internal };
  await expect(startWhenReachable(open, opened(), options)).rejects.toThrow('aborted');
  const mistake = () => Promise.reject(new TypeError('undefined is not a function'));
  const others = { ...options, signal: new AbortController().signal };
  await expect(startWhenReachable(mistake, opened(), others)).rejects.toThrow('is not a function');
});
