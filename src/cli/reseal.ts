/**
 * `npm run reseal`: re-encrypts everything that an older key has sealed with the newest one, while the service runs or
 * not. Says what it did on stdout and how far it is on stderr. Ends with 1 when an older key is still needed.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../config/config.ts';
import { openKeys } from '../credentials/sealing/key-file.ts';
import { reseal } from '../credentials/sealing/reseal.ts';
import { describeReseal, isDone } from '../credentials/sealing/reseal-report.ts';
import { openStorage } from '../storage/open-storage.ts';

const progressEveryMs = 2_000;

try {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
  const dryRun = values['dry-run'];
  const config = readConfig();
  const keys = await openKeys(config);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await using stack = new AsyncDisposableStack();
  const storage = await openStorage(config.database);
  stack.defer(() => storage.close());

  let saidAt = performance.now();
  const report = await reseal({
    storage,
    keys,
    dryRun,
    signal: stop.signal,
    onProgress({ table, done, of }) {
      if (performance.now() - saidAt < progressEveryMs) return;
      saidAt = performance.now();
      process.stderr.write(`${table}: ${done} of ${of}\n`);
    },
  });
  process.stdout.write(`${describeReseal(report, { keys, dryRun })}\n`);
  process.exitCode = isDone(report, { keys, dryRun }) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
