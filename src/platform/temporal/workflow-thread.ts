/**
 * Start of a thread for workflows: removes the hook that records where each promise was made (for Temporal's query
 * `__stack_trace`), then loads the SDK's own file.
 */
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { workerData } from 'node:worker_threads';

v8.promiseHooks.createHook = () => () => undefined;
await import(pathToFileURL(String(workerData)).href);
