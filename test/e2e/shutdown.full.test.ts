/** A process that is stopped while a tool runs finishes what it has begun. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { done, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { connectAccount } from '../service/connect-account.ts';
import { callsIn, failuresIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await createDeployment({ env: { LOG_LEVEL: 'info' } });
  const service = await deployment.start('start');
  const alice = deployment.client('alice');
  const turn = say(alice, 'list my open issues');
  await connectAccount('alice', (await turn.question()).url);
  await turn.end();
  await service.kill('SIGTERM');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

/** `create_issue` is not repeatable: a process that does not wait for it leaves an unknown outcome. */
async function whileATool() {
  const service = await deployment.start('start');
  const { arrived, release } = deployment.tracker.faults.hold('before');
  const turn = say(deployment.client('alice'), 'create an issue called Slow');
  await arrived;
  return { service, turn, release };
}

test(
  'a long tool call outlives the signal, and the turn goes on with its result',
  { timeout: 120_000 },
  async () => {
    const { service, turn, release } = await whileATool();
    const ended = service.kill('SIGTERM');
    await vi.waitFor(() =>
      expect(service.output()).toMatch(/waiting up to 60 s for calls .* \(1\); stop again/),
    );
    // Longer than workers wait by default; Tracker has 20 seconds to answer.
    await sleep(13_000);
    expect(service.isAlive()).toBe(true);
    release();
    expect(await ended).toEqual({ code: 0, signal: null });

    const next = await deployment.start('start');
    const view = await turn.end();
    expect(view.status).toBe('completed');
    expect(callsIn(view)).toEqual(['tracker__create_issue: done']);
    expect(failuresIn(view)).toEqual([]);
    expect(deployment.tracker.calls.filter(({ tool }) => tool === 'create_issue')).toHaveLength(1);
    await next.kill('SIGTERM');
  },
);

test('a second signal stops at once', async () => {
  const { service, release } = await whileATool();
  const ended = service.kill('SIGTERM');
  await vi.waitFor(() => expect(service.output()).toContain('stop again to leave them'));
  await sleep(600);
  void service.kill('SIGTERM');
  expect(await ended).toEqual({ code: 1, signal: null });
  release();
});

test('a tool in TypeScript begins nothing while the call of a server is waited for', async () => {
  await using stack = new AsyncDisposableStack();
  const server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  const booked: string[] = [];
  const bookingMs = 500;
  const hotel = createServer((request, response) => {
    booked.push(request.url?.slice(1) ?? '');
    setTimeout(() => response.end('done'), bookingMs);
  });
  const hotelPort = await freePort();
  hotel.listen(hotelPort, '127.0.0.1');
  stack.defer(() => void hotel.close());
  const own = await createDeployment({
    env: {
      INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/killed-agents.yaml', import.meta.url)),
      ASKING_URL: server.url,
      APPROVAL: 'never',
      HOTEL_URL: `http://127.0.0.1:${hotelPort}`,
    },
  });
  stack.defer(() => own.stop());
  const service = await own.start('start');
  const alice = own.client('alice');
  // The server's tools are learnt.
  await say(alice, 'hello').end();
  const called = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  server.play((message, response) => {
    called.resolve();
    const late = done('late');
    void released.promise.then(() => answer(message, response, late));
  });
  const slow = say(alice, 'call asking__ask {}');
  await called.promise;
  const cities = Array.from({ length: 15 }, (_, index) => `city-${index}`);
  const tour = say(alice, `call tour ${JSON.stringify({ cities })}`);
  await expect.poll(() => booked.length).toBeGreaterThan(1);

  const ended = service.kill('SIGTERM');
  await vi.waitFor(() => expect(service.output()).toContain('stop again to leave them'));
  const bookedBefore = booked.length;
  await sleep(8 * bookingMs);
  expect(service.isAlive()).toBe(true);
  // One that had been handed out by then may still begin.
  expect(booked.length - bookedBefore).toBeLessThanOrEqual(1);
  released.resolve();
  expect(await ended).toEqual({ code: 0, signal: null });

  const next = await own.start('start');
  const views = [await slow.end(), await tour.end()];
  expect(views.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(views.flatMap(failuresIn)).toEqual([]);
  expect(textOf(views[1]!)).toContain('All booked.');
  expect(booked).toEqual(cities);
  await next.kill('SIGTERM');
});
