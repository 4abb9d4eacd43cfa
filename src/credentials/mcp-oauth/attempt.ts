/**
 * One person on the way to a provider and back. The state is 256 random bits; what is stored is the hash of
 * state and browser session together, so a callback in another browser finds nothing and takes nothing away from
 * the right one.
 */
import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { OAuthRecords } from '../../storage/ports/oauth-records.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { authorizationServerSchema } from './authorization-server.ts';
import { clientSchema } from './registration.ts';

const attemptSchema = z.object({
  key: z.object({ tenant: z.string(), server: z.string(), user: z.string().nullable() }),
  serverUrl: z.string(),
  /** As it was when the person left: a code is redeemed only where it was asked for. */
  authorizationServer: authorizationServerSchema,
  /** Where its answer has to arrive; absent of attempts from before every sign-in server had an address of its own. */
  redirectUri: z.string().optional(),
  client: clientSchema,
  resource: z.string().nullable(),
  scopes: z.array(z.string()),
  codeVerifier: z.string(),
  /** Where the person wants to go back to in the end. */
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

export interface Attempts {
  /** `elicitationId`: the question that is to be answered by it, if any. */
  save(binding: Binding & { elicitationId: string | null; attempt: Attempt }): Promise<void>;
  /** Single use. Null when unknown, used, expired or another browser's. */
  take(binding: Binding): Promise<{ elicitationId: string | null; attempt: Attempt } | null>;
}

export function createAttempts(deps: { oauth: OAuthRecords; keys: KeyRing; now: () => number }): Attempts {
  const { oauth, keys, now } = deps;
  const hashOf = ({ state, sessionHash }: Binding) => hash('sha256', `${sessionHash}\n${state}`);

  return {
    async save({ elicitationId, attempt, ...binding }) {
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
    async take(binding) {
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

export function attemptContext(stateHash: string): string {
  return `attempt:${stateHash}`;
}
