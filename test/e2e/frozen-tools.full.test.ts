/**
 * 300 tool calls at once, of a server's tool and of a tool in TypeScript, and one of two workers stands still with some of
 * them in its hands, longer than Temporal waits for it. INTERLUDE_TEST_FROZEN_MS: how long; 20 seconds unless given.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Part } from '@interlude-ai/client/turn-view.ts';
import { freePort } from '../free-port.ts';
import { done, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { CallMessage } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import type { ServiceProcess } from './processes.ts';
import { say } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

const frozenMs = Number(process.env['INTERLUDE_TEST_FROZEN_MS'] ?? 20_000);
const turns = 30;
/** In each turn, of each kind. */
const calls = 5;

let deployment: Deployment;
let workers: ServiceProcess[];
/** The cities of all calls that have arrived, wherever. */
const arrived: string[] = [];
/** Until then no call is answered. */
const frozen = Promise.withResolvers<void>();

beforeAll(async () => {
  const server = await startScriptedMcpServer();
  const late = done();
  server.play(
    ...Array.from({ length: 2 * turns * calls }, () => (message: CallMessage, response: Response) => {
      arrived.push((message.params.arguments as { city: string }).city);
      void frozen.promise.then(() => answer(message, response, late));
    }),
  );
  const hotel = createServer((request, response) => {
    arrived.push(request.url?.slice(1) ?? '');
    void frozen.promise.then(() => response.end('done'));
  });
  const hotelPort = await freePort();
  hotel.listen(hotelPort, '127.0.0.1');
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/killed-agents.yaml', import.meta.url)),
      ASKING_URL: server.url,
      APPROVAL: 'never',
      HOTEL_URL: `http://127.0.0.1:${hotelPort}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
    },
  });
  deployment.defer(() => server.stop());
  deployment.defer(() => hotel.close());
  await deployment.startTemporal(temporalPort);
  [, ...workers] = await Promise.all([
    deployment.start('server'),
    deployment.start('worker'),
    deployment.start('worker'),
  ]);
  // The server's tools are learnt.
  await say(deployment.client('alice'), 'hello').end();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

type Response = Parameters<typeof answer>[1];

test(
  'each call is made once at most, and each ends: with its result, or as one of which nobody knows',
  { timeout: frozenMs + 240_000 },
  async () => {
    const [standing] = workers;
    const alice = deployment.client('alice');
    const cities = Array.from({ length: turns }, (_, turn) =>
      Array.from({ length: calls }, (_, call) => [`s-${turn}-${call}`, `t-${turn}-${call}`] as const),
    );
    const watched = cities.map((pairs) =>
      say(
        alice,
        pairs
          .map(([server, own]) => `call asking__ask {"city":"${server}"}\ncall book {"city":"${own}"}`)
          .join('\n'),
      ),
    );
    await expect.poll(() => arrived.length, { timeout: 60_000 }).toBeGreaterThan(60);
    process.kill(standing?.pid ?? 0, 'SIGSTOP');
    frozen.resolve();
    await sleep(frozenMs);
    process.kill(standing?.pid ?? 0, 'SIGCONT');

    const ends = new Map<string, string>();
    for (const turn of watched) {
      const view = await turn.end();
      expect(view.status).toBe('completed');
      for (const part of view.parts) if (part.kind === 'tool-call') ends.set(cityOf(part), endOf(part));
    }
    expect([...ends.keys()].toSorted()).toEqual(cities.flat(2).toSorted());
    const kinds = new Set(ends.values());
    expect([...kinds].toSorted()).toEqual(['done', 'unknown']);
    const doubled = arrived.filter((city, index) => arrived.indexOf(city) !== index);
    expect(doubled).toEqual([]);
    const done = [...ends].filter(([, end]) => end === 'done').map(([city]) => city);
    expect(done.filter((city) => !arrived.includes(city))).toEqual([]);
    process.stdout.write(`${done.length} of ${ends.size} are known to be done\n`);
  },
);

type ToolCall = Extract<Part, { kind: 'tool-call' }>;

const cityOf = ({ input }: ToolCall) => (input as { city: string }).city;

/** What the model reads of it. */
function endOf({ state }: ToolCall): string {
  const told = JSON.stringify(state);
  if (/Nobody knows whether|unknown whether/.test(told)) return 'unknown';
  return /"done"/.test(told) ? 'done' : told;
}
