/**
 * `interlude keys reseal`: re-encrypts everything with the newest key; the service may run meanwhile. Results go to
 * stdout and progress to stderr. The exit code is 1 when an older key is still needed.
 */
import { openKeys } from '../../credentials/sealing/key-file.ts';
import { describeReseal, isDone, reseal as resealAll } from '../../credentials/sealing/reseal.ts';
import { readConfig } from '../../platform/processes/read-config.ts';
import { openStorage } from '../../storage/open-storage.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';

const progressEveryMs = 2_000;

export const reseal = defineCommand({
  arguments: [],
  options: { 'dry-run': { type: 'boolean', description: 'show what would be done, and change nothing' } },
  details: 'INTERLUDE_KEYS lists the newest key first, and the older ones after it.',
  async run({ 'dry-run': dryRun }) {
    const config = readConfig();
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    await using stack = new AsyncDisposableStack();
    const storage = await openStorage(config.database, { isThere: true });
    stack.defer(() => storage.close());
    const keys = await openKeys(config, { areThere: true });
    const report = await resealAll({
      storage,
      keys,
      dryRun,
      signal: stop.signal,
      onProgress: sayNowAndThen(),
    });
    print(`${describeReseal(report, { keys, dryRun })}\n`);
    return isDone(report, { keys, dryRun }) ? 0 : 1;
  },
});

function sayNowAndThen(): (progress: { table: string; done: number; of: number }) => void {
  let saidAt = performance.now();
  return ({ table, done, of }) => {
    if (performance.now() - saidAt < progressEveryMs) return;
    saidAt = performance.now();
    printAside(`${table}: ${done} of ${of}\n`);
  };
}
