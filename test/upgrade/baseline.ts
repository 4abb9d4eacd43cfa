/** The release before this one: a commit. A clone without history does not have it, and its tests are skipped there. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

export const baseline = readFileSync(path.join(import.meta.dirname, 'baseline'), 'utf8').trim();
export const isBaselineHere = find();

function find(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${baseline}^{commit}`], { cwd: root, stdio: 'pipe' });
    return true;
  } catch {
    process.stderr.write(
      `No release before: this clone does not have commit ${baseline} (git fetch --unshallow)\n`,
    );
    return false;
  }
}
