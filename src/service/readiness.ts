/** Whether a process can do its work, and what is missing, for operators. */
import { lackOfKeys } from '../credentials/sealing/key-proofs.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { Storage } from '../storage/storage.ts';
import { grpcStatusNameOf } from '../platform/temporal/grpc-status.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';

export interface Lack {
  name: 'database' | 'temporal' | 'workers' | 'keys' | 'versions' | 'installation';
  detail: string;
}

/** Whether the database and Temporal belong together. */
export interface InstallationGate {
  /** Why no work may be done, and the remedy; null while they belong together, or nothing is known. */
  lack(): string | null;
  /** Resolves as soon as they belong together; rejects when `signal` aborts. */
  untilTogether(signal: AbortSignal): Promise<void>;
}

export interface Readiness {
  /** Empty when the process can do its work. */
  notReady: Lack[];
  /** What the process can work without. */
  warnings: Lack[];
}

export interface Check {
  name: Lack['name'];
  /** Resolves with what is missing; rejects when that cannot be found out. */
  check: () => Promise<string | null | void>;
  /** What is missing when the check fails or takes too long; null: unknown. */
  otherwise: ((error: unknown) => string) | null;
  /** The process can work without it. */
  isWarning?: boolean;
}

const checkTimeoutMs = 2_000;
const freshMs = 1_000;

/** Each check runs at most once a second. */
export function createReadiness(checks: Check[]): () => Promise<Readiness> {
  const cached = checks.map((check) => ({
    ...check,
    lack: atMostEvery(freshMs, () => inTime(check)),
  }));
  return async () => {
    const readiness: Readiness = { notReady: [], warnings: [] };
    const results = await Promise.all(cached.map(async (one) => ({ ...one, detail: await one.lack() })));
    for (const { name, detail, isWarning = false } of results)
      if (detail !== null) readiness[isWarning ? 'warnings' : 'notReady'].push({ name, detail });
    return readiness;
  };
}

/** What every process needs. */
export function databaseChecks({ storage, keys }: { storage: Storage; keys: KeyRing }): Check[] {
  return [
    { name: 'database', check: () => storage.ping(), otherwise: databaseLack },
    // While the database does not answer, nothing is known about keys.
    { name: 'keys', check: () => lackOfKeys(storage, keys), otherwise: null },
  ];
}

/** `installation` is absent where this is not checked. */
export function installationCheck(installation: Pick<InstallationGate, 'lack'> | undefined): Check {
  return { name: 'installation', check: async () => installation?.lack(), otherwise: null };
}

export function temporalCheck(check: () => Promise<string | null>): Check {
  return { name: 'temporal', check, otherwise: temporalLack };
}

export function databaseLack(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return `${databaseTrouble(code)}${code === '' ? '' : ` (${code})`}; check DATABASE_URL`;
}

function databaseTrouble(code: string): string {
  if (code.startsWith('28') || code === '42501') return 'the database refuses the login';
  if (code === '53300') return 'the database has too many connections';
  if (code === '3D000') return 'the database does not exist on its server';
  if (code === '25006') return 'the database is read-only, like a standby';
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return 'the database has a certificate that is not trusted';
  return 'the database does not answer';
}

export function temporalLack(error: unknown): string {
  const status = grpcStatusNameOf(error);
  if (status === 'UNAUTHENTICATED' || status === 'PERMISSION_DENIED')
    return `Temporal refuses the login (${status}); check TEMPORAL_API_KEY and the TEMPORAL_TLS settings`;
  if (status === 'TLS') return 'the TLS connection to Temporal fails; check the TEMPORAL_TLS settings';
  return `Temporal does not answer${status === undefined ? '' : ` (${status})`}; check TEMPORAL_ADDRESS`;
}

function atMostEvery<T>(intervalMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | undefined;
  return () => {
    if (!last || performance.now() - last.at >= intervalMs) last = { at: performance.now(), result: ask() };
    return last.result;
  };
}

async function inTime({ check, otherwise }: Check): Promise<string | null> {
  try {
    const late = otherwise?.(undefined) ?? null;
    return (await withTimeout(check(), checkTimeoutMs, late)) ?? null;
  } catch (error) {
    return otherwise?.(error) ?? null;
  }
}
