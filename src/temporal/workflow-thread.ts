/**
 * What a thread for workflows begins with: no hook that notes where each promise was made (for Temporal's query `__stack_trace`),
 * and then the SDK's own file.
 */
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { workerData } from 'node:worker_threads';

v8.promiseHooks.createHook = () => () => undefined;
await import(pathToFileURL(String(workerData)).href);
