/** `node scripts/setup.mjs [temporal] [time-skipping]`: called by npm before the scripts that need it. */
import { prepare } from './setup/prepare.mjs';

await prepare(process.argv.slice(2));
