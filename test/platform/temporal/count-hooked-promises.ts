/** Run in a thread: says of how many promises the hook hears that Temporal's SDK would set. */
import v8 from 'node:v8';
import { parentPort } from 'node:worker_threads';

let heardOf = 0;
v8.promiseHooks.createHook({ init: () => void (heardOf += 1) });
await Promise.all([1, 2, 3].map((number) => Promise.resolve(number)));
parentPort?.postMessage(heardOf);
