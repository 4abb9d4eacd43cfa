/** `interlude start`: API, worker, Temporal, sign-in and demo servers in one process. Configured parts replace the embedded ones. */
import path from 'node:path';
import type { Logger } from 'pino';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { AuthConfig, Config } from '../config/config.ts';
import { isLoopbackHost } from '@interlude-ai/core/elicitation/url-safety.ts';
import { adopt } from '../installation/adopt.ts';
import { NotTogether } from '../installation/belonging.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import { requireFreePorts } from '../network/ports.ts';
import type { WantedPort } from '../network/ports.ts';
import { serveApi } from '../processes/api-process.ts';
import { openDependencies } from '../processes/dependencies.ts';
import type { Dependencies } from '../processes/dependencies.ts';
import { logReadiness, reasonsAtStart, startInternalServer } from '../processes/internal-server.ts';
import { runProcess, watchOwnInstallation } from '../processes/run-process.ts';
import { createReload } from '../processes/reload-agents.ts';
import { startWorker } from '../processes/start-worker.ts';
import { readTurnCode } from '../processes/workers/turn-code.ts';
import { installRuntime } from '../processes/workers/turn-workers.ts';
import { watchFigures } from '../telemetry/metrics/start-metrics.ts';
import { clientBeside, connectWorker } from '../temporal/connection.ts';
import { requireNamespace } from '../temporal/namespace.ts';
import { openAgentBundles } from '../tool-bundles/open-agent-bundles.ts';
import { demoProgramClient } from '@interlude-ai/program/login/demo-token.ts';
import { startTemporalServer } from './temporal-server.ts';
import { createToolWarnings } from './tool-warnings.ts';
import { watchSources } from './watch-sources.ts';
import { suggestionsFor, welcome } from './welcome.ts';

/** `reloads`: changes of agents, tools and scripts are active at once. */
export async function runEmbedded({ reloads = false } = {}): Promise<void> {
  await runProcess({ service: 'interlude', kind: 'start' }, async (given, running) => {
    const { logger, stack, signal, metrics } = running;
    installRuntime(logger, metrics);
    await requireFreePorts(
      portsOf(given),
      ', and INTERLUDE_DATA to another folder if both start in the same one',
    );
    const internal = await startInternalServer(given, stack, metrics);
    // Refuses configurations that are no demo before anything is started.
    const auth = given.auth ?? (await startDemoIdentity(given, stack));
    const [temporal, code, tools] = await Promise.all([
      startTemporal(given, logger, stack),
      readTurnCode(given.temporal.deployment),
      openAgentBundles(given),
      startDemoServers(given, stack),
    ]);
    const config: Config = {
      ...given,
      auth,
      temporal: {
        ...given.temporal,
        address: temporal.address,
        uiUrl: given.temporal.uiUrl ?? temporal.uiUrl,
      },
    };

    const opened = await openDependencies(config, logger);
    stack.defer(() => opened.storage.close());
    stack.defer(watchFigures(opened.storage));
    const installation = await requireTogether(opened, given, stack);
    const parts = { ...opened, installation };
    const connection = await connectWorker(config.temporal);
    stack.defer(() => connection.close());
    await requireNamespace(connection, config.temporal.namespace);
    const { client, isShared, close } = clientBeside(connection, config.temporal, {
      keys: parts.keys,
      guard: installation.guard,
    });
    stack.defer(close);
    const { startsHere, offer } = await startWorker(
      parts,
      {
        connection,
        client,
        code,
        tools,
        kind: 'start',
        isAlone: given.temporal.address === undefined,
        signal,
      },
      stack,
    );
    const reloading = reloads
      ? createReload({ config, logger, tools: { offered: tools, offer } })
      : undefined;
    const { demoToken } = await import('@interlude-ai/program/login/demo-token.ts');
    const playground =
      given.auth === undefined && auth
        ? {
            temporalUi: temporal.uiUrl ?? null,
            suggestions: () => suggestionsFor(config),
            problems: reloading?.problems,
            tokenFor: (user: string) => demoToken(auth.issuer, user),
          }
        : undefined;
    const readiness = await serveApi(
      { ...parts, playground, accessLog: 'debug', ...(isShared && { startsHere }) },
      client,
      stack,
    );
    internal.report(readiness);
    const said = await reasonsAtStart(readiness);
    if (reloading) {
      const warn = createToolWarnings(config, logger);
      const look = () => reloading.reload().then(warn);
      const watching = watchSources(config.configDir, () => void look());
      stack.defer(() => watching.close());
      // What was changed while the parts started.
      await look();
    }
    process.stdout.write(welcome(config, temporal.uiUrl, given.auth === undefined, said));
    logReadiness(readiness, { logger, name: `API on ${config.http.publicUrl}`, said }, stack);
  });
}

/** All at once, before anything is started. Temporal's come later, when what a killed process left there is cleared. */
function portsOf({ http, internal, auth, demo }: Config): WantedPort[] {
  const loopback = (variable: string, port: number) => ({ variable, port, host: '127.0.0.1' });
  const { servers, identityPort } = demo;
  return [
    { variable: 'PORT', ...http },
    ...(internal ? [{ variable: 'INTERNAL_PORT', ...internal }] : []),
    ...(auth ? [] : [loopback('DEMO_IDENTITY_PORT', identityPort)]),
    ...(servers
      ? [
          loopback('DEMO_TRACKER_PORT', servers.trackerPort),
          loopback('DEMO_TRAVEL_PORT', servers.travelPort),
          loopback('DEMO_DESK_PORT', servers.deskPort),
          loopback('DEMO_FLIGHTS_PORT', servers.flightsPort),
        ]
      : []),
  ];
}

/**
 * If both are files in our own folder, no other process can own their turns: turns that only one of them knows are
 * ended, and both go on together. Otherwise an operator has to decide.
 */
async function requireTogether(
  parts: Dependencies,
  { temporal, database, dataDir }: Config,
  stack: AsyncDisposableStack,
): Promise<InstallationWatch> {
  const watch = await watchOwnInstallation(parts, stack);
  const lack = watch.lack();
  if (lack === null) return watch;
  const areOurs =
    temporal.address === undefined &&
    database.kind === 'sqlite' &&
    path.dirname(path.resolve(database.path)) === path.resolve(dataDir);
  if (!areOurs) throw new NotTogether(lack);
  const { opened } = watch;
  const { ended } = await adopt({ ...parts, installation: opened }, await opened.examine(), {
    turns: 'end',
    takeOver: true,
  });
  parts.logger.warn(
    `the database and Temporal in ${dataDir} did not belong together, and do now; ${ended} turns that only one of them knew were ended`,
  );
  await watch.untilTogether();
  return watch;
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
    import('../../../demo/tracker/tracker.ts'),
    import('../../../demo/travel/travel.ts'),
    import('../../../demo/desk/desk.ts'),
    import('../../../demo/flights/flights.ts'),
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

// The demo's identity provider is for one machine: it signs anyone in as alice or bob.

/** Throws a `ConfigError` when the configuration is meant for more than this machine. */
async function startDemoIdentity(config: Config, stack: AsyncDisposableStack): Promise<AuthConfig> {
  const others = meantForOthers(config);
  if (others.length > 0)
    throw new ConfigError([
      `AUTH_ISSUER: needed beside ${others.join(', ')}; without it the demo's sign-in would make anybody alice or bob. Name your OpenID provider (and AUTH_CLIENT_ID), or leave those settings out for the demo`,
    ]);
  const { demoAudience, demoLoginClient, startIdentityProvider } = await import('../../../demo/identity.ts');
  const provider = await startIdentityProvider({
    port: config.demo.identityPort,
    dataDir: `${config.dataDir}/identity`,
    redirectUris: [`${config.http.publicUrl}/auth/login/callback`],
  });
  stack.defer(() => provider.stop());
  const client = { id: demoLoginClient, secret: undefined };
  const program = { clientId: demoProgramClient, scope: undefined };
  // Bob is the operator of the demo.
  const operator = { claim: 'sub', role: 'bob', contentsRole: 'bob' };
  return {
    issuer: provider.issuer,
    audience: demoAudience,
    tenantClaim: 'tenant',
    operator,
    client,
    program,
  };
}

function meantForOthers({ http, database, temporal }: Config): string[] {
  return [
    ...(isLoopbackHost(http.host) ? [] : [`HOST=${http.host}`]),
    ...(isLoopbackHost(new URL(http.publicUrl).hostname) ? [] : [`PUBLIC_URL=${http.publicUrl}`]),
    ...(database.kind === 'postgres' ? ['a PostgreSQL database (DATABASE_URL)'] : []),
    ...(temporal.address === undefined ? [] : ['a Temporal of your own (TEMPORAL_ADDRESS)']),
  ];
}
