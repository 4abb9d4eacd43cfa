/** What a picture was made of. */
import { createHash } from 'node:crypto';
import { drawState } from './draw.ts';
import type { State } from './states.ts';

export function digestOfPicture(state: State): string {
  return createHash('sha256').update(drawState(state)).digest('hex').slice(0, 32);
}
