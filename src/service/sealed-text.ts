/** Text that a surface hands to a client and gets back unread and unchanged, such as a cookie. */
import { timingSafeEqual } from 'node:crypto';
import { SealingError } from '../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';

/** Binds a sealed text to a value that comes with it. */
export { digestOf } from '../credentials/sealing/sealed-values.ts';

/** `use`: its purpose. A text sealed for one purpose does not open for another. */
export function createSealedText(keys: Pick<KeyRing, 'seal' | 'open'>) {
  return {
    seal: (text: string, use: string): string => keys.seal(text, use),
    /** Null when it was changed, is for another purpose, or its key is gone. */
    open(sealed: string, use: string): string | null {
      try {
        return keys.open(sealed, use);
      } catch (error) {
        if (error instanceof SealingError) return null;
        throw error;
      }
    },
  };
}

/** Takes constant time, so that a secret cannot be guessed character by character. */
export function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
