/** The database of the service, for operators' commands: opened when one runs, with the environment of a process. */
import type { Config } from '../../platform/config/config.ts';
import type { Dependencies } from '../../platform/processes/dependencies.ts';
import type { Storage } from '../../storage/storage.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

/** Prints what `work` finds. */
export function printFromService(work: (parts: Dependencies) => Promise<string>): Promise<void> {
  return openService(async (parts) => print(`${await work(parts)}\n`));
}

/** Runs `work`, which prints for itself, with the service's dependencies. */
export async function openService(work: (parts: Dependencies) => Promise<void>): Promise<void> {
  const [{ onServiceDatabase }, { readConfig }] = await Promise.all([
    import('../../platform/processes/dependencies.ts'),
    import('../../platform/processes/read-config.ts'),
  ]);
  await onServiceDatabase(readConfig(), work);
}

/** As `printFromService`, for what needs the tables alone. `isThere`: the database must exist. */
export async function printFromStorage(
  work: (storage: Storage, config: Config) => Promise<string>,
  options: { isThere?: boolean } = {},
): Promise<void> {
  await onStorage(async (storage, config) => print(`${await work(storage, config)}\n`), options);
}

export async function onStorage(
  work: (storage: Storage, config: Config) => Promise<void>,
  { isThere = true }: { isThere?: boolean } = {},
): Promise<void> {
  const [{ openStorage }, { readConfig }] = await Promise.all([
    import('../../storage/open-storage.ts'),
    import('../../platform/processes/read-config.ts'),
  ]);
  const config = readConfig();
  const storage = await openStorage(config.database, { isThere });
  try {
    await work(storage, config);
  } finally {
    await storage.close();
  }
}
