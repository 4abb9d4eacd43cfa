/** `/healthz`: this process runs. `/readyz`: it can do its work, and if not, what is missing. */
import type { FastifyInstance } from 'fastify';
import { NotReadySchema, ReadySchema, RunningSchema } from '../contract/health.ts';
import { recordContext } from '../credentials/mcp-oauth/records.ts';
import type { KeyRing } from '../credentials/sealing.ts';
import type { Storage } from '../storage/storage.ts';
import { describeRoute, json } from './describe-route.ts';
import type { TurnWorkflows } from './turns.ts';
import { withSchemas } from './validation.ts';

export interface HealthParts {
  storage: Storage;
  workflows: Pick<TurnWorkflows, 'ping'>;
  keys: KeyRing;
}

type Check = () => Promise<void>;

const checkTimeoutMs = 2_000;
const freshMs = 1_000;

export function healthRoutes(fastify: FastifyInstance, { storage, workflows, keys }: HealthParts): void {
  const checks: Record<string, { check: Check; remedy: string }> = {
    database: { check: () => storage.ping(), remedy: 'the database does not answer; check DATABASE_URL' },
    temporal: { check: () => workflows.ping(), remedy: 'Temporal does not answer; check TEMPORAL_ADDRESS' },
    keys: {
      check: keysFitDatabase(storage, keys),
      remedy: 'INTERLUDE_KEYS does not open what this database holds; put the missing key back',
    },
  };
  const cached = Object.entries(checks).map(([name, { check, remedy }]) => ({
    name,
    remedy,
    isWell: atMostEvery(freshMs, check),
  }));

  const routes = withSchemas(fastify);
  const config = { rateLimit: false as const };
  const alive = describeRoute({
    tag: 'service',
    id: 'getHealth',
    summary: 'Whether this process runs',
    response: { 200: json('It runs', RunningSchema) },
    isPublic: true,
  });
  routes.get('/healthz', { config, schema: alive }, () => ({ status: 'ok' }));

  const ready = describeRoute({
    tag: 'service',
    id: 'getReadiness',
    summary: 'Whether this process can do its work',
    response: { 200: json('It can', ReadySchema), 503: json('What it lacks', NotReadySchema) },
    isPublic: true,
  });
  routes.get('/readyz', { config, schema: ready }, async (_, reply) => {
    const results = await Promise.all(cached.map(async (entry) => ({ ...entry, ok: await entry.isWell() })));
    const notReady = results.filter(({ ok }) => !ok).map(({ name, remedy }) => ({ name, detail: remedy }));
    reply.header('cache-control', 'no-store');
    return notReady.length === 0
      ? { status: 'ready' }
      : reply.code(503).send({ status: 'not ready', notReady });
  });
}

/** Probes ask often and from many sides; what they ask about is asked once a second. */
function atMostEvery(intervalMs: number, check: Check): () => Promise<boolean> {
  let last: { at: number; result: Promise<boolean> } | undefined;
  return () => {
    if (!last || Date.now() - last.at >= intervalMs) last = { at: Date.now(), result: inTime(check) };
    return last.result;
  };
}

async function inTime(check: Check): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), checkTimeoutMs);
  try {
    return await Promise.race([late, check().then(() => true)]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** A marker sealed by whoever came first proves that this process holds the keys of this database. */
function keysFitDatabase(storage: Storage, keys: KeyRing): Check {
  const name = 'marker:keys';
  let isProven = false;
  return async () => {
    if (isProven) return;
    const marker = await storage.oauth.recall(name);
    if (marker) keys.open(marker.sealed, recordContext(name));
    // Sealed afresh under the newest key, so that older ones can be retired.
    await storage.oauth.remember(name, keys.seal(name, recordContext(name)));
    isProven = true;
  };
}
