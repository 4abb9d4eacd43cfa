/** The HTTP server: lists and assembles every surface. Closing it cuts open streams, so that clients resume at another process. */
import { randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { AuthConfig, Config } from '../platform/config/config.ts';
import type { Service } from '../service/service.ts';
import { logAccess, traceRequests } from './http/observe-requests.ts';
import { requirePrincipal } from './http/authentication.ts';
import { refuseOtherVersions } from './http/client-versions.ts';
import { a2aSurface } from './a2a/route.ts';
import { agUiSurface } from './ag-ui/route.ts';
import { cardRoutes } from './a2a/cards.ts';
import { approvalsSurface, connectionsSurface } from './rest/connections.ts';
import { chatSurface } from './chat/route.ts';
import { sendPage } from './pages/layout.ts';
import { problemPage } from './pages/outcome-pages.ts';
import { wordsOf } from './pages/words.ts';
import { connectPages } from './pages/route.ts';
import type { PagesParts } from './pages/route.ts';
import { allowOrigins, refuseUnknownHosts, warnOfForeignPages } from './http/origins.ts';
import { conversationsSurface } from './rest/conversations.ts';
import { elicitationsSurface } from './rest/elicitations.ts';
import { feedSurface } from './rest/feed.ts';
import { answerWithProblems, isOpenedInBrowser, problemFor, sendProblem } from './http/problems.ts';
import type { Refuse } from './http/problems.ts';
import { healthRoutes, refuseWhileApart, whenTogether } from './http/health.ts';
import {
  createRefusalLimit,
  limitAddresses,
  limitOpenRequests,
  limitRequests,
  messageBodyLimit,
} from './http/limits.ts';
import { mcpPath, mcpSurface } from './mcp/route.ts';
import { nangoWebhook } from './nango-webhook/route.ts';
import { operatorsSurface } from './operators/route.ts';
import { openaiSurface } from './openai/route.ts';
import { slackSurface } from './slack/route.ts';
import { toolPages } from './rest/tool-pages.ts';
import { describeApi } from './http/openapi.ts';
import { readJsonBodies } from './http/json-bodies.ts';
import { protectedResources } from './http/protected-resources.ts';
import { readToTheEnd, createReaders } from './http/readers.ts';
import { withSchemas } from './http/validation.ts';
import { scriptRoute } from './http/script-route.ts';

export interface AppParts {
  config: Config & { auth: AuthConfig };
  service: Service;
  logger: Logger;
  /** With the demo's identity provider only. */
  playground?: PagesParts['playground'];
  /** The level of the access log. */
  accessLog?: 'info' | 'debug';
}

const requestTimeoutMs = 60_000;

export function createApp(parts: AppParts): FastifyInstance {
  const { config, service, logger } = parts;
  const refuse: Refuse = (request, reply, problem) =>
    isOpenedInBrowser(request)
      ? sendPage(
          reply.headers(problem.headers),
          problemPage(wordsOf(request), problem, `${config.http.publicUrl}/`),
        )
      : sendProblem(reply, problem);
  const app: FastifyInstance = Fastify({
    loggerInstance: logger.child({}, { level: 'warn' }) as FastifyBaseLogger,
    // Its lines would contain paths with ids of questions; see observe-requests.ts.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.http.trustProxy,
    bodyLimit: config.http.bodyLimit,
    // Limits how long a request may take to arrive, not the response: streams stay open.
    requestTimeout: requestTimeoutMs,
    genReqId: () => randomUUID(),
    // For paths that cannot be decoded.
    frameworkErrors: (error, request, reply) => void refuse(request, reply, problemFor(error, request)),
    // 128 characters of a conversation id, each percent-encoded.
    routerOptions: { maxParamLength: 3 * 128 },
  });

  traceRequests(app, config.telemetry);
  // Before `createReaders`, which overrides it when the service closes.
  readToTheEnd(app);
  const readers = createReaders(app);
  const cards = {
    publicUrl: config.http.publicUrl,
    auth: config.auth,
    version: packageJson.version,
    signingKeys: config.a2a.signingKeys,
  };
  const { requestsPerMinute, openRequests } = config.limits;
  const perMinute = requestsPerMinute.perUser;

  logAccess(app, { logger, level: parts.accessLog ?? 'info' });
  answerWithProblems(app, refuse);
  app.addHook('onRequest', async (_, reply) => void reply.header('x-content-type-options', 'nosniff'));
  refuseUnknownHosts(app, config.http);
  warnOfForeignPages(app, config.http, logger);
  refuseWhileApart(app, service, refuse);
  describeApi(app, { publicUrl: config.http.publicUrl, perMinute });
  app.register(async (health) => healthRoutes(health, service));

  app.register(async (fastify) => {
    const api = withSchemas(fastify);
    // Leaves JSON as the only content type, so that others are a 415.
    api.removeContentTypeParser('text/plain');
    api.addHook('onSend', async (_, reply) => void reply.header('cache-control', 'no-store'));
    readJsonBodies(api);
    await allowOrigins(api, config.http.corsOrigins);
    refuseOtherVersions(api);
    requirePrincipal(api, {
      authenticate: service.authenticate,
      refusals: createRefusalLimit(perMinute),
      names: { publicUrl: config.http.publicUrl, audience: config.auth.audience },
    });
    limitOpenRequests(api, service.limits, openRequests.perAddress);
    limitRequests(api, service.limits);
    const parts = { service, readers, bodyLimit: messageBodyLimit(config) };
    chatSurface(api, parts);
    conversationsSurface(api, service);
    feedSurface(api, parts);
    openaiSurface(api, parts);
    elicitationsSurface(api, parts);
    connectionsSurface(api, service);
    approvalsSurface(api, service);
    operatorsSurface(api, service);
    mcpSurface(api, { service, readers, http: config.http });
    a2aSurface(api, { ...parts, ...cards });
    agUiSurface(api, parts);
  });

  app.register(async (open) => {
    limitAddresses(open, perMinute);
    scriptRoute(open, 'widget.js');
    const { publicUrl } = config.http;
    await cardRoutes(open, { agents: service.agents, ...cards });
    protectedResources(open, { publicUrl, auth: config.auth, paths: [mcpPath] });
  });

  app.register(async (pages) => {
    await pages.register(connectPages, {
      ...service,
      config,
      answer: service.answerQuestion,
      logger,
      playground: parts.playground,
    });
  });

  app.register(toolPages, service);

  const { accounts, recordRefusal } = service;
  const signingKey = config.nango?.webhookSigningKey;
  if (accounts.nango && signingKey !== undefined)
    app.register(nangoWebhook, { attempts: accounts.nango, signingKey, recordRefusal, logger });

  const { slack } = service;
  if (slack) app.register(slackSurface, { slack, service, http: config.http, logger });

  whenTogether(app, service, () => service.start());
  app.addHook('onClose', () => service.close());
  return app;
}
