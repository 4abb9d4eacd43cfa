/**
 * What has been learnt about servers, sealed. Everything here can be learnt again, so a record that no longer
 * opens or has another shape counts as absent.
 */
import type { z } from 'zod';
import type { OAuthRecords } from '../../storage/ports/oauth-records.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';

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
