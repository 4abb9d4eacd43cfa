/** How a process uses what it knows of its installation. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { safeFailures } from '../activities/safe-failures.ts';
import { watchInstallation } from '../installation/installation.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * Closed with the stack. When database and Temporal come apart under a running process, the process ends at once: it may have
 * read from one what the other does not know. Started again, it waits for an operator.
 */
export async function watchOwnInstallation(
  parts: Pick<Dependencies, 'config' | 'storage' | 'logger'>,
  stack: AsyncDisposableStack,
): Promise<InstallationWatch> {
  const onParted = (): never => {
    parts.logger.fatal('this process ends; started again, it waits for an operator');
    process.exit(1);
  };
  const watch = await watchInstallation(parts, { onParted });
  stack.defer(() => watch.close());
  return watch;
}

export function activityInterceptors({
  logger,
  installation,
}: Pick<Dependencies, 'logger' | 'installation'>): ActivityInterceptorsFactory[] {
  return [...(installation ? [installation.activityGuard] : []), safeFailures(logger)];
}
