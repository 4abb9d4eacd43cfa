/**
 * The HTTP side of Interlude: every surface, in one list. Assembles and never listens; closing it ends open
 * streams without a last word, so that clients go on at another process.
 */
import { randomUUID } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import Fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../../../package.json' with { type: 'json' };
import type { AuthConfig, Config } from '../../config/config.ts';
import { logAccess } from './access-log.ts';
import { requirePrincipal } from './authentication.ts';
import { a2aSurface } from '../a2a/route.ts';
import { cardRoutes } from '../a2a/cards.ts';
import { approvalsSurface } from '../approvals/route.ts';
import { chatSurface } from '../chat/route.ts';
import { connectPages } from '../pages/route.ts';
import type { PagesParts } from '../pages/route.ts';
import { connectionsSurface } from '../connections/route.ts';
import { allowOrigins } from './cors.ts';
import { conversationsSurface } from '../conversations/route.ts';
import { elicitationsSurface } from '../elicitations/route.ts';
import { feedSurface } from '../feed/route.ts';
import { answerWithProblems, problemFor, sendProblem } from './answer-with-problems.ts';
import { healthRoutes, refuseWhileApart, whenTogether } from './health.ts';
import { refuseUnknownHosts } from './known-hosts.ts';
import { createRefusalLimit, limitRequests, limitOpenRequests, messageBodyLimit } from './limits.ts';
import { mcpPath, mcpSurface } from '../mcp/route.ts';
import type { Service } from '../../service/service.ts';
import { nangoWebhook } from '../nango-webhook/route.ts';
import { operatorsSurface } from '../operators/route.ts';
import { openaiSurface } from '../openai/route.ts';
import { slackSurface } from '../slack/route.ts';
import { toolPages } from '../tool-pages/route.ts';
import { describeApi } from './openapi.ts';
import { readJsonBodies } from './json-bodies.ts';
import { protectedResources } from './protected-resources.ts';
import { readToTheEnd } from './read-to-the-end.ts';
import { createReaders } from './readers.ts';
import { traceRequests } from './trace-requests.ts';
import { withSchemas } from './validation.ts';
import { scriptRoute } from './script-route.ts';

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
  const app: FastifyInstance = Fastify({
    loggerInstance: logger.child({}, { level: 'warn' }) as FastifyBaseLogger,
    // Its lines would have paths, which carry ids of questions: see access-log.ts.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.http.trustProxy,
    bodyLimit: config.http.bodyLimit,
    // To arrive, not to be answered: streams stay open for as long as they like.
    requestTimeout: requestTimeoutMs,
    genReqId: () => randomUUID(),
    // A path that cannot be decoded never reaches a route.
    frameworkErrors: (error, request, reply) => void sendProblem(reply, problemFor(error, request)),
    // Conversation ids may have 128 characters, each of which may arrive percent-encoded.
    routerOptions: { maxParamLength: 3 * 128 },
  });

  traceRequests(app, config.telemetry);
  // Before `createReaders`, whose word counts when the service closes.
  readToTheEnd(app);
  const readers = createReaders(app);
  const cards = {
    publicUrl: config.http.publicUrl,
    auth: config.auth,
    version: packageJson.version,
    signingKeys: config.a2a.signingKeys,
  };
  const perMinute = { max: config.http.rateLimitPerMinute, timeWindow: 60_000 };

  logAccess(app, { logger, level: parts.accessLog ?? 'info' });
  answerWithProblems(app);
  // A browser takes no response for another type than it names.
  app.addHook('onRequest', async (_, reply) => void reply.header('x-content-type-options', 'nosniff'));
  refuseUnknownHosts(app, config.http);
  refuseWhileApart(app, service);
  describeApi(app, { publicUrl: config.http.publicUrl, limit: perMinute });
  app.register(async (health) => healthRoutes(health, service));

  app.register(async (fastify) => {
    const api = withSchemas(fastify);
    // Leaves JSON as the only content type, so that anything else is a 415 and not a puzzling 400.
    api.removeContentTypeParser('text/plain');
    // What people said stays in no cache on the way.
    api.addHook('onSend', async (_, reply) => void reply.header('cache-control', 'no-store'));
    readJsonBodies(api);
    await allowOrigins(api, config.http.corsOrigins);
    requirePrincipal(api, {
      authenticate: service.authenticate,
      refusals: createRefusalLimit(config.http.rateLimitPerMinute),
      names: { publicUrl: config.http.publicUrl, audience: config.auth.audience },
    });
    limitOpenRequests(api, config.http.openRequests);
    const countEach = await limitRequests(api, config.http.rateLimitPerMinute);
    const bodyLimit = messageBodyLimit(config);
    chatSurface(api, { service, readers, bodyLimit });
    conversationsSurface(api, service);
    feedSurface(api, { service, readers });
    openaiSurface(api, { service, readers, bodyLimit });
    elicitationsSurface(api, { service, readers, countEach });
    connectionsSurface(api, service);
    approvalsSurface(api, service);
    operatorsSurface(api, service);
    mcpSurface(api, { service, readers, http: config.http });
    a2aSurface(api, { service, readers, bodyLimit, ...cards });
  });

  app.register(async (anybody) => {
    await anybody.register(rateLimit, perMinute);
    scriptRoute(anybody, 'widget.js');
    const { publicUrl } = config.http;
    await cardRoutes(anybody, { agents: service.agents, ...cards });
    protectedResources(anybody, { publicUrl, auth: config.auth, paths: [mcpPath] });
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
