/** Joins the workflow code with Temporal's SDK, into `build/`, so that a worker starts without bundling: npm run build-workflows. */
import { readTurnCode } from '../src/platform/processes/workers/turn-code.ts';
import { joinWithSdk } from '../src/platform/temporal/join-sdk.ts';

const { code, buildId } = await readTurnCode();
const joined = await joinWithSdk({ code });
console.log(`workflows ${buildId}: ${(joined.code.length / 1024).toFixed(0)} KiB`);
