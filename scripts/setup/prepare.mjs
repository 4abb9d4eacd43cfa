/**
 * Makes a fresh checkout ready, as far as it is needed. Plain Node 20 without packages, because it is what installs the
 * packages and the newer Node.
 */
import { installDependencies } from './dependencies.mjs';
import { say, SetupError } from './steps.mjs';
import { installTemporalCli } from './temporal-cli.mjs';
import { installTemporalTestServer } from './temporal-test-server.mjs';

/**
 * What is there already takes a moment and says nothing. False when something cannot be had; what, and what to do, is said.
 * @param {string[]} tools `temporal`, `time-skipping`: besides packages and Node
 */
export async function prepare(tools) {
  try {
    await installDependencies();
    // Somebody else's cluster makes the development server needless for running, not for testing.
    if (tools.includes('time-skipping') || (tools.includes('temporal') && !process.env.TEMPORAL_ADDRESS))
      await installTemporalCli();
    if (tools.includes('time-skipping')) await installTemporalTestServer();
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exitCode = 1;
    return false;
  }
}
