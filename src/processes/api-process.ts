/** The API process. Any number of them may run; what they know is in the database and in Temporal. */
import { openDependencies } from './dependencies.ts';
import { watchOwnInstallation } from './own-installation.ts';
import { runProcess } from './run-process.ts';
import { requireAuth, serveApi } from './serve-api.ts';
import { holdLease } from './versions.ts';
import { logReadiness } from './log-readiness.ts';
import { connectClient } from '../temporal/connection.ts';

export async function runApiProcess(): Promise<void> {
  await runProcess({ isReadable: false, checksIssuer: true }, async (config, logger, stack) => {
    const opened = await openDependencies(requireAuth(config), logger);
    stack.defer(() => opened.storage.close());
    const installation = await watchOwnInstallation(opened, stack);
    const parts = { ...opened, installation };
    // A key that somebody enters is tried at its server.
    stack.defer(() => parts.remote.close());
    const { client, close } = connectClient(config.temporal, parts.keys, installation.guard);
    stack.defer(close);
    await holdLease(parts, 'api', stack);
    const notReadyReasons = await serveApi(parts, client, stack);
    logReadiness(notReadyReasons, { logger, url: config.http.publicUrl }, stack);
  });
}
