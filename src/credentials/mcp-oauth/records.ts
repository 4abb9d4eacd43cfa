/**
 * What was learned about servers, and sign-ins that are under way, sealed. What was learned can be learned again, so a
 * record that does not open or has another shape counts as absent.
 */
import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { OAuthRecords } from '../../storage/tables/connecting.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { authorizationServerSchema } from './metadata.ts';

export const registeredSchema = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** The client of an attempt or a connection. A configured secret stays in the configuration. */
export const clientSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('configured'), clientId: z.string() }),
  z.object({ kind: z.literal('document'), clientId: z.string() }),
  z.object({ kind: z.literal('registered'), registration: registeredSchema }),
]);

export type Client = z.infer<typeof clientSchema>;

export interface Records {
  recall<T>(key: string, schema: z.ZodType<T>): Promise<{ value: T; updatedAt: number } | null>;
  remember(key: string, value: unknown): Promise<void>;
  forget(key: string): Promise<void>;
}

export function createRecords(oauth: OAuthRecords, keys: KeyRing): Records {
  return {
    async recall(key, schema) {
      const record = await oauth.recall(key);
      if (!record) return null;
      try {
        const parsed = schema.safeParse(JSON.parse(keys.open(record.sealed, recordContext(key))));
        return parsed.success ? { value: parsed.data, updatedAt: record.updatedAt } : null;
      } catch (error) {
        if (error instanceof SealingError) return null;
        throw error;
      }
    },
    remember: (key, value) => oauth.remember(key, keys.seal(JSON.stringify(value), recordContext(key))),
    forget: (key) => oauth.forget(key),
  };
}

export function recordContext(key: string): string {
  return key;
}

const attemptSchema = z.object({
  key: z.object({ tenant: z.string(), server: z.string(), user: z.string().nullable() }),
  serverUrl: z.string(),
  /** As it was at the beginning: a code is only redeemed where it was requested. */
  authorizationServer: authorizationServerSchema,
  /** Where the answer has to arrive. */
  redirectUri: z.string(),
  client: clientSchema,
  resource: z.string().nullable(),
  scopes: z.array(z.string()),
  codeVerifier: z.string(),
  /** Where the person is sent in the end. */
  returnUrl: z.string().nullable().default(null),
});
export type Attempt = z.infer<typeof attemptSchema>;

const lifeMs = 600_000;

export function newState(): string {
  return randomBytes(32).toString('base64url');
}

interface Binding {
  state: string;
  sessionHash: string;
}

/**
 * The state is 256 random bits. Only the hash of state and browser session is stored, so a callback in another browser finds
 * nothing, and does not use up the attempt.
 */
export function createAttempts(deps: { oauth: OAuthRecords; keys: KeyRing; now: () => number }) {
  const { oauth, keys, now } = deps;
  const hashOf = ({ state, sessionHash }: Binding) => hash('sha256', `${sessionHash}\n${state}`);

  return {
    /** `elicitationId`: the question that the sign-in answers, if any. */
    async save({
      elicitationId,
      attempt,
      ...binding
    }: Binding & { elicitationId: string | null; attempt: Attempt }) {
      const stateHash = hashOf(binding);
      const sealed = keys.seal(JSON.stringify(attempt), attemptContext(stateHash));
      const expiresAt = now() + lifeMs;
      await oauth.saveAttempt({
        stateHash,
        elicitationId,
        sessionHash: binding.sessionHash,
        sealed,
        expiresAt,
      });
    },
    /** Single use. Null when it is unknown, used, expired, or of another browser. */
    async take(binding: Binding) {
      const stateHash = hashOf(binding);
      const found = await oauth.takeAttempt(stateHash, now());
      if (!found || found.sessionHash !== binding.sessionHash) return null;
      try {
        const attempt = attemptSchema.parse(JSON.parse(keys.open(found.sealed, attemptContext(stateHash))));
        return { elicitationId: found.elicitationId, attempt };
      } catch (error) {
        if (error instanceof SealingError) return null;
        throw error;
      }
    },
  };
}

export type Attempts = ReturnType<typeof createAttempts>;

export function attemptContext(stateHash: string): string {
  return `attempt:${stateHash}`;
}
