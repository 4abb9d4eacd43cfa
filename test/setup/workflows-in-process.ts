/**
 * Before every test file. Workers in the test's own process run workflows in its main thread (Temporal's debug mode):
 * starting a thread for each worker, which loads Temporal's modules and the bundle anew, is a sixth of what a file with
 * several services costs. Programs of ours that tests start are not given this; there, workflows have their threads.
 */
import v8 from 'node:v8';
import './calls-without-limit.ts';

process.env['TEMPORAL_DEBUG'] = '1';

// Temporal notes where each promise of a workflow was made, for the query `__stack_trace`. In the main thread that hook is
// called for every promise of the process, and takes an eighth of the processor's time.
v8.promiseHooks.createHook = () => () => undefined;
