/**
 * `interlude keys reseal`: re-encrypts everything with the newest key; the service may run meanwhile. Results go to
 * stdout and progress to stderr. The exit code is 1 when an older key is still needed.
 */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { group } from '@interlude-ai/kit/terminal/command.ts';
import { printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { printFromStorage } from './open-service.ts';

const progressEveryMs = 2_000;

export function keys(): CommandUnknownOpts {
  const reseal = new Command('reseal')
    .description('encrypt everything again with the newest encryption key')
    .option('--dry-run', 'show what would be done, and change nothing')
    .addHelpText('after', '\nINTERLUDE_KEYS lists the newest key first, and the older ones after it.')
    .action(({ dryRun = false }) => resealAll(dryRun));
  return group('keys', 'encryption keys: reseal', [reseal]);
}

async function resealAll(dryRun: boolean): Promise<void> {
  const [{ openKeys }, { describeReseal, isDone, reseal }] = await Promise.all([
    import('../../credentials/sealing/key-file.ts'),
    import('../../credentials/sealing/reseal.ts'),
  ]);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await printFromStorage(async (storage, config) => {
    const opened = await openKeys(config, { areThere: true });
    const onProgress = sayNowAndThen();
    const report = await reseal({ storage, keys: opened, dryRun, signal: stop.signal, onProgress });
    if (!isDone(report, { keys: opened, dryRun })) process.exitCode = 1;
    return describeReseal(report, { keys: opened, dryRun });
  });
}

function sayNowAndThen(): (progress: { table: string; done: number; of: number }) => void {
  let saidAt = performance.now();
  return ({ table, done, of }) => {
    if (performance.now() - saidAt < progressEveryMs) return;
    saidAt = performance.now();
    printAside(`${table}: ${done} of ${of}\n`);
  };
}
