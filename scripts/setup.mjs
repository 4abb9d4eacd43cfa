/** `node scripts/setup.mjs [temporal] [time-skipping]`: called by npm before the scripts that need it. */
import { isNodeNewEnough } from '../src/cli/node-version.mjs';

if (isNodeNewEnough())
  void import('./setup/prepare.mjs').then(({ prepare }) => prepare(process.argv.slice(2)));
