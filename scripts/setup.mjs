/**
 * Makes a fresh checkout ready: `node scripts/setup.mjs [temporal] [time-skipping]`. Called by npm before the scripts
 * that need it. Plain Node 20 without packages, because it is what installs the packages and the newer Node.
 */
import { installDependencies } from './setup/dependencies.mjs';
import { say, SetupError } from './setup/steps.mjs';
import { installTemporalCli } from './setup/temporal-cli.mjs';
import { installTemporalTestServer } from './setup/temporal-test-server.mjs';

try {
  const parts = new Set(process.argv.slice(2));
  await installDependencies();
  // Somebody else's cluster makes the development server needless for running, not for testing.
  if (parts.has('time-skipping') || (parts.has('temporal') && !process.env.TEMPORAL_ADDRESS))
    await installTemporalCli();
  if (parts.has('time-skipping')) await installTemporalTestServer();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
