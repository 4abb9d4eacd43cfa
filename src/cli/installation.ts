/** Whether the database and Temporal belong together, and an operator's decision that they do from now on. */
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import { adopt, foresee, survey } from '../platform/installation/adopt.ts';
import { explain } from '../platform/installation/belonging.ts';
import { openInstallation } from '../platform/installation/installation.ts';
import type { Examined, OpenedInstallation } from '../platform/installation/installation.ts';
import { readConfig } from '../platform/processes/read-config.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';

interface Parts {
  config: Config;
  storage: Storage;
  installation: OpenedInstallation;
  logger: Logger;
}

/** Together, not together, or one of them does not answer. */
const exitCodes = { together: 0, apart: 1, unknown: 3 } as const;

/** Resolves with the exit code. */
export function showInstallation(): Promise<number> {
  return withBoth(async (parts, examined) => {
    const { belonging } = examined;
    print(`${await describe(parts, examined)}\n`);
    if (belonging.kind === 'apart') print(`${explain(belonging.reason)}\n`);
    else if (examined.found) print('They belong together.\n');
    else print('There is no mark yet; the first process that starts writes it.\n');
    return exitCodes[belonging.kind];
  });
}

/** Resolves with the exit code. */
export function adoptInstallation(
  turns: 'end' | 'restart',
  { dryRun, takeOver }: { dryRun: boolean; takeOver: boolean },
): Promise<number> {
  return withBoth(async (parts, examined) => {
    if (examined.belonging.kind === 'together') {
      print('They belong together; there is nothing to do.\n');
      return 0;
    }
    if (dryRun) {
      const would = await foresee(parts, examined, turns);
      print(
        `${await describe(parts, examined)}\nTurns that would end: ${would.ended}. Would begin again: ${would.begunAgain}. Would be terminated at Temporal: ${would.terminated}.\n`,
      );
      return 0;
    }
    const { ended, begunAgain, terminated } = await adopt(parts, examined, { turns, takeOver });
    print(
      `The database and Temporal belong together now. Turns ended: ${ended}. Begun again: ${begunAgain}. Terminated at Temporal: ${terminated}.\n`,
    );
    return 0;
  });
}

async function withBoth(work: (parts: Parts, examined: Examined) => Promise<number>): Promise<number> {
  const config = readConfig();
  const logger = pino({ level: 'silent' });
  await using stack = new AsyncDisposableStack();
  const storage = await openStorage(config.database, { logger, isThere: true });
  stack.defer(() => storage.close());
  const installation = openInstallation({ config, storage, logger });
  stack.defer(() => installation.close());
  const examined = await installation.examine().catch((error: unknown) => {
    printAside(
      `They cannot be compared: ${error instanceof Error ? error.message : String(error)}. Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.\n`,
    );
    return null;
  });
  return examined ? await work({ config, storage, installation, logger }, examined) : exitCodes.unknown;
}

async function describe(parts: Parts, examined: Examined): Promise<string> {
  const { row, found } = examined;
  const { namespace } = parts.config.temporal;
  const { live, unknown, ahead, orphans } = await survey(parts, examined);
  const side = (id: string | undefined, generation: number | undefined) =>
    id === undefined ? 'no mark' : `installation ${id}, generation ${generation}`;
  return [
    `database: ${side(row?.id, row?.generation)}`,
    `Temporal: ${side(found?.mark.installation, found?.mark.generation)} (namespace ${namespace}, schedule ${parts.installation.marks.scheduleId})`,
    `Turns that have not ended: ${live}. Temporal does not know: ${unknown.length}. Went on without this database: ${ahead.length}. Only Temporal knows: ${orphans.length}.`,
  ].join('\n');
}
