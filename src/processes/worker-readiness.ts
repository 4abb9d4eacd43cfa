/** Whether a worker can do its work: it needs the database, its keys and Temporal. */
import type { NativeConnection } from '@temporalio/worker';
import { createReadiness, databaseChecks, installationCheck, temporalCheck } from '../service/readiness.ts';
import type { Readiness } from '../service/readiness.ts';
import { queryDeadlineMs } from '../service/temporal-calls.ts';
import { clientOver } from '../temporal/connection.ts';
import { createTemporalReadiness } from '../service/temporal-readiness.ts';
import type { Dependencies } from './dependencies.ts';

/** `versions`: what is wrong with the versions of the workflow code that it runs; null when nothing is. */
export function workerReadiness(
  { config, storage, keys, installation }: Dependencies,
  connection: NativeConnection,
  versions: () => Promise<string | null> = async () => null,
): () => Promise<Readiness> {
  const client = clientOver(connection, config.temporal);
  const temporal = createTemporalReadiness(client, config.temporal, storage);
  return createReadiness([
    ...databaseChecks({ storage, keys }),
    installationCheck(installation),
    temporalCheck(() => client.withDeadline(Date.now() + queryDeadlineMs, temporal.namespace)),
    { name: 'versions', check: versions, otherwise: null, isWarning: true },
  ]);
}
