/**
 * Very many people think at once, on one worker: `npm run soak`, with `-- --held 300 --detached 2000 --minutes 6` unless
 * given, and `--postgres`. Their questions are held, or left alone and looked at; they are answered, declined, cancelled and forgotten,
 * while other turns go on. Ends with 1 when anything does not end as it has to, and prints how long things took.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { connectClient } from '../src/platform/temporal/connection.ts';
import { startTemporalServer } from '../src/platform/development/temporal-server.ts';
import { startPostgres } from '../test/setup/postgres-server.ts';
import { eachOf } from './each-of.ts';
import { startDoubles } from './doubles/start-doubles.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import { percentile } from './report.ts';
import { startService } from './service.ts';
import { createUser } from './user.ts';
import { kinds, startPatientServers } from './soak/patient-servers.ts';
import type { Kind } from './soak/patient-servers.ts';
import { act, fates, verify } from './soak/questions.ts';
import type { Asked, Fate } from './soak/questions.ts';

const { values: options } = parseArgs({
  options: {
    held: { type: 'string', default: '300' },
    detached: { type: 'string', default: '2000' },
    /** How long a question waits. Long enough for all to be open at once. */
    minutes: { type: 'string', default: '6' },
    /** Instead of SQLite: the server at DATABASE_URL, or one that is started for the run. */
    postgres: { type: 'boolean', default: false },
  },
});
const counts: Record<Kind, number> = { held: Number(options.held), left: Number(options.detached) };
/** Of the held ones, these find no place. */
const tooMany = 5;
const agent = 'asker';
/** Of each kind, before anything is measured. */
const warmUps = 1;

await using stack = new AsyncDisposableStack();
const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-soak-'));
stack.defer(() => rm(dataDir, { recursive: true, force: true }));
const namespace = 'default';
const logger = createLogger({ level: 'error', human: true });
const temporal = await startTemporalServer({ temporal: { namespace, port: 0, uiPort: 0 }, dataDir, logger });
stack.defer(() => temporal.stop());
const { address } = temporal;
const { client, close } = connectClient({
  address,
  namespace,
  apiKey: undefined,
  tls: false,
});
stack.defer(close);
const [{ model, mcp, issuer, asking }, servers] = await Promise.all([
  startDoubles(stack),
  startPatientServers(),
]);
for (const server of [servers.held, servers.left]) stack.defer(() => server.stop());
const urls = { ...asking.urls, held: servers.held.url, left: servers.left.url };
const postgres = options.postgres ? stack.use(await startPostgres(process.env['DATABASE_URL'])) : undefined;
const databaseUrl = await postgres?.createDatabase();
const service = stack.use(
  await startService(
    {
      temporal: { address, namespace },
      model,
      mcp,
      issuer,
      asking: { ...asking, urls },
      databaseUrl,
      env: { ELICITATION_TIMEOUT: `${options.minutes}m`, WORKER_HELD_CALLS: String(counts.held) },
    },
    client,
  ),
);
const { baseUrl, storage } = service;
let users = 0;
const newUser = async () => {
  const name = `user-${++users}`;
  return createUser(baseUrl, name, await issuer.token(name));
};

/** Somebody else, all the while. */
const others: { phase: string; tookMs: number }[] = [];
let phase = 'nothing is open';
const over = new AbortController();
async function bystander(): Promise<void> {
  const user = await newUser();
  while (!over.signal.aborted) {
    const startedAt = performance.now();
    await user.ask(say.briefly);
    others.push({ phase, tookMs: performance.now() - startedAt });
    await sleep(250);
  }
}
const going = Promise.all([bystander(), bystander()]);
// What goes wrong elsewhere takes the service away from them, and is told first.
going.catch(() => undefined);

print(`${counts.held} held and ${counts.left} detached questions, load ${loadavg()[0]?.toFixed(1)}`);
// What is learnt about a server is learnt once.
for (const kind of kinds) {
  const user = await newUser();
  await user.answer(await user.beAsked(`${say.call} ${kind}__ask`, { agent }), { colour: 'red' });
}
const before = await service.inside('memory');

const open: Asked[] = [];
for (const kind of kinds) {
  phase = `${kind} questions open`;
  const startedAt = performance.now();
  const count = counts[kind];
  await eachOf(count, 10, async (index) => {
    const user = await newUser();
    const question = await user.beAsked(`${say.call} ${kind}__ask`, { agent });
    open.push({ kind, fate: fates[index % fates.length] ?? 'expired', user, question, repeats: 0 });
  });
  const during = await service.inside('memory');
  const seconds = (performance.now() - startedAt) / 1000;
  print(
    `${kind}: ${count} open after ${seconds.toFixed(0)} s; ` +
      `${((during.resident - before.resident) / 1024 / 1024).toFixed(0)} MiB more than before, all kinds together`,
  );
  if (kind === 'held') await expectRefusals();
}

async function expectRefusals(): Promise<void> {
  await eachOf(tooMany, tooMany, async () => {
    const { headers } = await newUser();
    const conversation = randomUUID();
    const message = {
      id: randomUUID(),
      role: 'user',
      parts: [{ type: 'text', text: `${say.call} held__ask` }],
    };
    const body = JSON.stringify({ id: conversation, agentId: agent, messages: [message] });
    const response = await fetch(`${baseUrl}/run/api/chat`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    const messages = await storage.messages.list({ tenant, conversation });
    assert.match(JSON.stringify(messages), /may be tried again later/);
    assert.deepEqual(await storage.elicitations.ofConversation({ tenant, conversation }), []);
  });
  print(`${tooMany} more than can be held: refused in words`);
}

phase = 'all are open';
await sleep(20_000);
phase = 'answers';
const actedFrom = performance.now();
await eachOf(open.length, 25, async (index) => {
  const one = open[index];
  if (one && one.fate !== 'expired') await act(baseUrl, one);
});
print(
  `all acted on after ${((performance.now() - actedFrom) / 1000).toFixed(0)} s; ${open.reduce((sum, { repeats }) => sum + repeats, 0)} times said again, after a 503`,
);
phase = 'the rest runs out';
for (const { question } of open) while (await storage.turns.live({ tenant, ...question })) await sleep(200);
over.abort();
await going;

const late = await Promise.all(open.map(async (one) => ({ ...one, lateMs: await verify(storage, one) })));
for (const kind of kinds)
  for (const fate of fates) {
    const these = late.filter((one) => one.kind === kind && one.fate === fate);
    const statuses = Map.groupBy(these, ({ acted }) => acted?.status ?? 'nobody acted');
    const told = [...statuses].map(([status, some]) => `${some.length} × ${status}`).join(', ');
    print(`${kind}, ${fate}: ${told}; effect ${times(these.map(({ lateMs }) => lateMs))}`);
  }
for (const kind of kinds) assert.deepEqual(told(kind), expectedOf(kind), `what the server was told: ${kind}`);
for (const [name, some] of Map.groupBy(others, (one) => one.phase))
  print(`turns of others while ${name}: ${some.length}, ${times(some.map(({ tookMs }) => tookMs))}`);
print('all ended as they have to');

/** A server is told of decisions; a turn that is cancelled leaves its call, and nobody answers. */
function expectedOf(kind: Kind): Record<string, number> {
  const fatesOf = open.filter((one) => one.kind === kind).map(({ fate }) => fate);
  const count = (fate: Fate) => fatesOf.filter((one) => one === fate).length;
  return { accept: count('accept') + warmUps, cancel: count('expired'), decline: count('decline') };
}

function told(kind: Kind): Record<string, number> {
  return Object.fromEntries(servers[kind].told);
}

function times(ms: number[]): string {
  return (
    [0.5, 0.95, 1].map((share) => `${Math.round(percentile(ms, share))} ms`).join(' / ') +
    ' (p50, p95, longest)'
  );
}

function print(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
