/** The API process. Any number may run; all state is in the database and in Temporal. */
import type { Client } from '@temporalio/client';
import { createApp } from '../../api/app.ts';
import type { AppParts } from '../../api/app.ts';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { AuthConfig, Config } from '../config/config.ts';
import { isLocalHost } from '../network/addresses.ts';
import { portsTaken, requireFreePorts } from '../network/ports.ts';
import { startAuditSealing } from '../loops/audit-sealing.ts';
import { startReconciler } from '../loops/reconciler.ts';
import { startRetention } from '../loops/retention.ts';
import type { Readiness } from '../../service/readiness.ts';
import { createService } from '../../service/service.ts';
import type { Service, ServiceParts } from '../../service/service.ts';
import { createTurnRuns } from '../../service/turn-runs.ts';
import { watchFigures } from '../telemetry/metrics/start-metrics.ts';
import { connectClient } from '../temporal/connection.ts';
import { openDependencies } from './dependencies.ts';
import { createReload } from './reload-agents.ts';
import type { Dependencies } from './dependencies.ts';
import { logReadiness, startInternalServer } from './internal-server.ts';
import { runProcess, sendOutbox, startWhenReachable, watchOwnInstallation } from './run-process.ts';
import { holdLease } from './versions.ts';

export async function runApiProcess(): Promise<void> {
  await runProcess(
    { service: 'interlude-api', kind: 'server' },
    async (given, { logger, stack, signal, metrics, onHangUp }) => {
      const config = requireAuth(given);
      onHangUp(createReload({ config, logger }).reload);
      const { http, internal: ofOperators } = config;
      await requireFreePorts([
        { variable: 'PORT', ...http },
        ...(ofOperators ? [{ variable: 'INTERNAL_PORT', ...ofOperators }] : []),
      ]);
      const internal = await startInternalServer(config, stack, metrics);
      const start = async (attempt: AsyncDisposableStack) => {
        const opened = await openDependencies(config, logger);
        attempt.defer(() => opened.storage.close());
        attempt.defer(watchFigures(opened.storage));
        const installation = await watchOwnInstallation(opened, attempt);
        const parts = { ...opened, installation };
        // An entered key is tried at its server.
        attempt.defer(() => parts.remote.close());
        const { client, close } = connectClient(config.temporal, {
          keys: parts.keys,
          guard: installation.guard,
        });
        attempt.defer(close);
        await holdLease(parts, { kind: 'api', buildId: null }, attempt);
        sendOutbox(parts, client, attempt);
        const readiness = await serveApi(parts, client, attempt);
        internal.report(readiness);
        logReadiness(readiness, { logger, name: `API on ${config.http.publicUrl}` }, attempt);
      };
      await startWhenReachable(start, stack, { logger, signal, internal });
    },
  );
}

/**
 * Runs the HTTP server, the watch for lost turns, the deletion of old data, and the sealing of the audit. Also part of
 * `interlude start`.
 */
export async function serveApi(
  parts: Dependencies & Pick<AppParts, 'playground' | 'accessLog'> & Pick<ServiceParts, 'startsHere'>,
  client: Client,
  stack: AsyncDisposableStack,
): Promise<() => Promise<Readiness>> {
  const config = requireAuth(parts.config);
  const { port, host } = config.http;
  const service = createService({ ...parts, client });
  const app = createApp({
    config,
    service,
    logger: parts.logger,
    playground: parts.playground,
    ...(parts.accessLog && { accessLog: parts.accessLog }),
  });
  stack.defer(() => app.close());
  const lostTurns = startLostTurns(parts, client, service);
  stack.defer(() => lostTurns.stop());
  const retention = startRetention({ ...parts, endConnection: service.connections.end });
  stack.defer(() => retention.stop());
  const sealing = startAuditSealing(parts);
  stack.defer(() => sealing.stop());
  try {
    await app.listen({ port, host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw await portsTaken([{ variable: 'PORT', port, host }]);
  }
  const warning = publicUrlWarning(config.http.publicUrl);
  if (warning !== null) parts.logger.warn(warning);
  return service.readiness;
}

/** Watches for turns that lost their workflow. */
export function startLostTurns(
  parts: Dependencies,
  client: Client,
  { resumeDeliveries }: Pick<Service, 'resumeDeliveries'>,
  confirmMs?: number,
): ReturnType<typeof startReconciler> {
  return startReconciler(
    { ...parts, resumeDeliveries, ...(confirmMs !== undefined && { confirmMs }) },
    createTurnRuns(client),
  );
}

/** Only the demo has a default sign-in: an API without an issuer does not start. */
function requireAuth(config: Config): Config & { auth: AuthConfig } {
  const { auth } = config;
  if (auth) return { ...config, auth };
  throw new ConfigError([
    'AUTH_ISSUER, AUTH_CLIENT_ID: needed by the API; only `interlude start` brings a demo issuer along',
  ]);
}

/** Why this address is unsafe, if it is. In a private network, http is the operator's choice. */
export function publicUrlWarning(publicUrl: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'http:' || isLocalHost(hostname)) return null;
  return 'PUBLIC_URL is http on a public host: tokens, sign-ins and answers can be read and changed on their way; put a proxy with TLS in front and write https';
}
