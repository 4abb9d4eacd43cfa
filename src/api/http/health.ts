/** `/healthz`: this process runs. `/readyz`: it can do its work, and if not, what is missing. */
import type { FastifyInstance } from 'fastify';
import { NotReadySchema, ReadySchema, RunningSchema } from '../../contract/health.ts';
import { lackOfKeys } from '../../credentials/sealing/key-proofs.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { Storage } from '../../storage/storage.ts';
import { describeRoute, json } from './describe-route.ts';
import type { TurnWorkflows } from '../../service/turn-workflows.ts';
import { withSchemas } from './validation.ts';

export interface HealthParts {
  storage: Storage;
  workflows: Pick<TurnWorkflows, 'readiness'>;
  keys: KeyRing;
}

/** Resolves with what is missing, if it knows; rejects when it cannot be told. */
type Check = () => Promise<string | null | void>;

const checkTimeoutMs = 2_000;
const freshMs = 1_000;

export function healthRoutes(fastify: FastifyInstance, { storage, workflows, keys }: HealthParts): void {
  const checks: Record<string, { check: Check; remedy: string | null }> = {
    database: { check: () => storage.ping(), remedy: 'the database does not answer; check DATABASE_URL' },
    temporal: {
      check: workflows.readiness.namespace,
      remedy: 'Temporal does not answer; check TEMPORAL_ADDRESS',
    },
    // While Temporal itself does not answer, nothing is known about workers.
    workers: { check: workflows.readiness.workers, remedy: null },
    // While the database does not answer, nothing is known about keys.
    keys: { check: () => lackOfKeys(storage, keys), remedy: null },
  };
  const cached = Object.entries(checks).map(([name, { check, remedy }]) => ({
    name,
    lack: atMostEvery(freshMs, () => inTime(check, remedy)),
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
    const results = await Promise.all(cached.map(async ({ name, lack }) => ({ name, detail: await lack() })));
    const notReady = results.flatMap(({ name, detail }) => (detail === null ? [] : [{ name, detail }]));
    reply.header('cache-control', 'no-store');
    return notReady.length === 0
      ? { status: 'ready' }
      : reply.code(503).send({ status: 'not ready', notReady });
  });
}

/** Probes ask often and from many sides; what they ask about is asked once a second. */
function atMostEvery<T>(intervalMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | undefined;
  return () => {
    if (!last || Date.now() - last.at >= intervalMs) last = { at: Date.now(), result: ask() };
    return last.result;
  };
}

/** What is missing; `otherwise` when the check fails or takes too long. */
async function inTime(check: Check, otherwise: string | null): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => resolve(otherwise), checkTimeoutMs);
  try {
    return await Promise.race([late, check().then((lack) => lack ?? null)]);
  } catch {
    return otherwise;
  } finally {
    clearTimeout(timer);
  }
}
