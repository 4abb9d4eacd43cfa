/** Whether this process can do its work, and if not, what it lacks, in words for operators. */
import { lackOfKeys } from '../credentials/sealing/key-proofs.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { Storage } from '../storage/storage.ts';
import { withTimeout } from '../time/with-timeout.ts';
import type { TemporalReadiness } from './temporal-readiness.ts';

export interface Lack {
  name: 'database' | 'temporal' | 'workers' | 'keys' | 'installation';
  detail: string;
}

/** Whether the database and Temporal belong together. */
export interface InstallationGate {
  /** Why nothing may be done and what to do; null while they belong together, or nothing is known. */
  lack(): string | null;
  /** Resolves as soon as they belong together; rejects when `signal` aborts. */
  untilTogether(signal: AbortSignal): Promise<void>;
}

interface Check {
  name: Lack['name'];
  /** Resolves with what is missing, if it knows; rejects when it cannot be told. */
  check: () => Promise<string | null | void>;
  /** What is missing when the check fails or takes too long. */
  otherwise: string | null;
}

interface Parts {
  storage: Storage;
  temporal: TemporalReadiness;
  keys: KeyRing;
  installation?: Pick<InstallationGate, 'lack'> | undefined;
}

const checkTimeoutMs = 2_000;
const freshMs = 1_000;

/** What is asked about is asked once a second at most, however often this is called. */
export function createReadiness({ storage, temporal, keys, installation }: Parts): () => Promise<Lack[]> {
  const checks: Check[] = [
    {
      name: 'database',
      check: () => storage.ping(),
      otherwise: 'the database does not answer; check DATABASE_URL',
    },
    {
      name: 'temporal',
      check: temporal.namespace,
      otherwise: 'Temporal does not answer; check TEMPORAL_ADDRESS',
    },
    // While Temporal itself does not answer, nothing is known about workers.
    { name: 'workers', check: temporal.workers, otherwise: null },
    // While the database does not answer, nothing is known about keys.
    { name: 'keys', check: () => lackOfKeys(storage, keys), otherwise: null },
  ];
  const cached = checks.map((check) => ({
    name: check.name,
    lack: atMostEvery(freshMs, () => inTime(check)),
  }));
  return async () => {
    const results = await Promise.all(cached.map(async ({ name, lack }) => ({ name, detail: await lack() })));
    const apart = { name: 'installation', detail: installation?.lack() ?? null } as const;
    return [...results, apart].flatMap(({ name, detail }) => (detail === null ? [] : [{ name, detail }]));
  };
}

function atMostEvery<T>(intervalMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | undefined;
  return () => {
    if (!last || Date.now() - last.at >= intervalMs) last = { at: Date.now(), result: ask() };
    return last.result;
  };
}

async function inTime({ check, otherwise }: Check): Promise<string | null> {
  try {
    return (await withTimeout(check(), checkTimeoutMs, otherwise)) ?? null;
  } catch {
    return otherwise;
  }
}
