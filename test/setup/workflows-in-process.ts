/**
 * Before every test file. Workers in the test's own process run workflows in its main thread (Temporal's debug mode):
 * starting a thread for each worker, which loads Temporal's modules and the bundle anew, is a sixth of what a file with
 * several services costs. Programs of ours that tests start are not given this; there, workflows have their threads.
 */
process.env['TEMPORAL_DEBUG'] = '1';
