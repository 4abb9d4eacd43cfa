/** The API process. Any number of them may run; what they know is in the database and in Temporal. */
import { connectClient } from '../temporal/connection.ts';
import { openDependencies } from './dependencies.ts';
import { startInternalServer } from './internal-server.ts';
import { logReadiness } from './log-readiness.ts';
import { watchOwnInstallation } from './own-installation.ts';
import { watchFigures } from '../telemetry/metrics/stored-figures.ts';
import { runProcess } from './run-process.ts';
import { requireAuth, serveApi } from './serve-api.ts';
import { sendOutbox } from './start-outbox.ts';
import { startWhenReachable } from './start-when-reachable.ts';
import { holdLease } from './versions.ts';

export async function runApiProcess(): Promise<void> {
  await runProcess(
    { service: 'interlude-api', kind: 'server' },
    async (given, { logger, stack, signal, metrics }) => {
      const config = requireAuth(given);
      const internal = await startInternalServer(config, stack, metrics);
      const start = async (attempt: AsyncDisposableStack) => {
        const opened = await openDependencies(config, logger);
        attempt.defer(() => opened.storage.close());
        attempt.defer(watchFigures(opened.storage));
        const installation = await watchOwnInstallation(opened, attempt);
        const parts = { ...opened, installation };
        // A key that a person enters is tried at its server.
        attempt.defer(() => parts.remote.close());
        const { client, close } = connectClient(config.temporal, {
          keys: parts.keys,
          guard: installation.guard,
        });
        attempt.defer(close);
        await holdLease(parts, 'api', attempt);
        sendOutbox(parts, client, attempt);
        const readiness = await serveApi(parts, client, attempt);
        internal.report(readiness);
        logReadiness(readiness, { logger, name: `API on ${config.http.publicUrl}` }, attempt);
      };
      await startWhenReachable(start, stack, { logger, signal, internal });
    },
  );
}
