/** `interlude start`: API, worker, Temporal, sign-in and demo servers in one process. What is configured replaces ours. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { startDemoIdentity } from './demo-identity.ts';
import { openDependencies } from '../processes/dependencies.ts';
import { runProcess } from '../processes/run-process.ts';
import { serveApi } from '../processes/serve-api.ts';
import { connectClient, connectWorker } from '../temporal/connection.ts';
import { suggestionsFor } from './suggestions.ts';
import { requireNamespace } from '../temporal/namespace.ts';
import { logReadiness, reasonsAtStart } from '../processes/log-readiness.ts';
import { startTemporalServer } from './temporal-server.ts';
import { openAgentBundles } from '../tool-bundles/open-agent-bundles.ts';
import { startWorker } from '../processes/start-worker.ts';
import { readTurnCode } from '../processes/workers/turn-code.ts';
import { installRuntime } from '../processes/workers/turn-worker.ts';
import { welcome } from './welcome.ts';

export async function runEmbedded(): Promise<void> {
  await runProcess({ isReadable: true, checksIssuer: true }, async (given, logger, stack) => {
    installRuntime(logger);
    // Refuses what is no demo, before anything else is there.
    const auth = given.auth ?? (await startDemoIdentity(given, stack));
    const [temporal, code, tools] = await Promise.all([
      startTemporal(given, logger, stack),
      readTurnCode(given.temporal.deployment),
      openAgentBundles(given),
      startDemoServers(given, stack),
    ]);
    const config: Config = { ...given, auth, temporal: { ...given.temporal, address: temporal.address } };

    const parts = await openDependencies(config, logger);
    stack.defer(() => parts.storage.close());
    const connection = await connectWorker(config.temporal);
    stack.defer(() => connection.close());
    await requireNamespace(connection, config.temporal.namespace);
    const { client, close } = connectClient(config.temporal, parts.keys);
    stack.defer(close);
    await startWorker(
      parts,
      { connection, code, tools, isAlone: given.temporal.address === undefined },
      stack,
    );
    const { demoToken } = await import('./demo-token.ts');
    const playground =
      given.auth === undefined && auth
        ? {
            temporalUi: temporal.uiUrl ?? null,
            suggestions: suggestionsFor(config),
            tokenFor: (user: string) => demoToken(auth.issuer, user),
          }
        : undefined;
    const notReadyReasons = await serveApi({ ...parts, playground }, client, stack);
    const said = await reasonsAtStart(notReadyReasons);
    process.stdout.write(welcome(config, temporal.uiUrl, given.auth === undefined, said));
    logReadiness(notReadyReasons, { logger, url: config.http.publicUrl, said }, stack);
  });
}

async function startTemporal(config: Config, logger: Logger, stack: AsyncDisposableStack) {
  const { temporal, dataDir } = config;
  if (temporal.address !== undefined) return { address: temporal.address, uiUrl: undefined };
  const server = await startTemporalServer({ temporal, dataDir, logger });
  stack.defer(() => server.stop());
  return server;
}

async function startDemoServers({ demo, dataDir, http }: Config, stack: AsyncDisposableStack): Promise<void> {
  if (!demo.servers) return;
  const { trackerPort, travelPort, deskPort, deskSecret, flightsPort } = demo.servers;
  const [{ startTracker }, { startTravelDesk }, { startDesk }, { startFlightAgent }] = await Promise.all([
    import('../../demo/tracker/tracker.ts'),
    import('../../demo/travel/travel.ts'),
    import('../../demo/desk/desk.ts'),
    import('../../demo/flights/flights.ts'),
  ]);
  const tracker = await startTracker({ port: trackerPort, dataDir: `${dataDir}/tracker` });
  stack.defer(() => tracker.stop());
  const travelDesk = await startTravelDesk({ port: travelPort, dataDir: `${dataDir}/travel` });
  stack.defer(() => travelDesk.stop());
  const interlude = { url: http.publicUrl, completionSecret: deskSecret };
  const desk = await startDesk({ port: deskPort, dataDir: `${dataDir}/desk`, interlude });
  stack.defer(() => desk.stop());
  const flights = await startFlightAgent({ port: flightsPort });
  stack.defer(() => flights.stop());
}
