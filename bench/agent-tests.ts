/**
 * How long 100 tests of agents take: `node bench/agent-tests.ts`. Each starts a turn that asks; a third is answered, a
 * third declined, and for a third ten minutes pass. Prints the time with and without the start of the service.
 */
import { loadavg } from 'node:os';
import path from 'node:path';
import { runTests } from '../src/agent-tests/run-tests.ts';

const folder = path.join(import.meta.dirname, 'agent-tests');
const start = performance.now();
const isPassed = await runTests([path.join(folder, 'hundred.test.ts')], { folder });
const seconds = (performance.now() - start) / 1000;
console.log(`100 tests: ${seconds.toFixed(1)} s (load ${loadavg()[0]?.toFixed(1)})`);
process.exit(isPassed ? 0 : 1);
