/** What a surface gives out of its hands and wants back unchanged and unread, a cookie for example. */
import { SealingError } from '../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';

/** To bind a sealed text to a value that comes along with it. */
export { digestOf } from '../credentials/sealing/canonical-json.ts';

/** `use`: what it is for; sealed for one use it does not open for another. */
export interface SealedText {
  seal(text: string, use: string): string;
  /** Null when it was changed, is for another use, or was sealed with a key that is gone. */
  open(sealed: string, use: string): string | null;
}

export function createSealedText(keys: Pick<KeyRing, 'seal' | 'open'>): SealedText {
  return {
    seal: (text, use) => keys.seal(text, use),
    open(sealed, use) {
      try {
        return keys.open(sealed, use);
      } catch (error) {
        if (error instanceof SealingError) return null;
        throw error;
      }
    },
  };
}
