/** Bundles the workflows into `build/`, so that a worker starts without bundling: npm run build-workflows. */
import { openWorkflowBundle } from '../src/processes/workflow-bundle.ts';

const { code, buildId } = await openWorkflowBundle();
console.log(`workflows ${buildId}: ${(code.length / 1024).toFixed(0)} KiB`);
