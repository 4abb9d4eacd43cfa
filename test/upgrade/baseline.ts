/** The release before this one: a commit. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const baseline = readFileSync(path.join(import.meta.dirname, 'baseline'), 'utf8').trim();
