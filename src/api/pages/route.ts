/**
 * The hosted pages: answering questions, connecting accounts, settings, operators. A link grants nothing: only the signed-in person
 * who was asked sees a question or can act on it. Refusals are audited. GET changes nothing, so link previews are harmless.
 */
import cookies from '@fastify/cookie';
import forms from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Limits } from '../../service/limits.ts';
import { limitAddresses } from '../http/limits.ts';
import { problemFor } from '../http/problems.ts';
import { authorizationRoutes, clientRoutes } from './oauth.ts';
import type { NangoConnecting, PageContext, PagesParts } from './context.ts';
import { pageHeaders, sendPage } from './layout.ts';
import { loginRoutes } from './login/routes.ts';
import { nangoAssets } from './nango/assets.ts';
import { nangoCallback, nangoRoutes } from './nango/routes.ts';
import { homePage, problemPage } from './outcome-pages.ts';
import { codecRoutes } from './operators/codec.ts';
import { operatorRoutes } from './operators/routes.ts';
import { questionRoutes } from './question/routes.ts';
import { createRefusals } from './refusals.ts';
import type { Refusals } from './refusals.ts';
import { acceptReturnUrls } from './return-url.ts';
import { createSessions } from './login/session.ts';
import type { Sessions } from './login/session.ts';
import { playgroundRoutes } from './playground.ts';
import { slackPages } from './slack/routes.ts';
import { settingsRoutes } from './settings/routes.ts';
import { wordsOf } from './words.ts';

export type { PagesParts } from './context.ts';

/** A Fastify plugin: `fastify.register(connectPages, parts)`. */
export async function connectPages(fastify: FastifyInstance, parts: PagesParts): Promise<void> {
  const { publicUrl, returnUrls } = parts.config.http;
  const { perUser: perMinute } = parts.config.limits.requestsPerMinute;
  const sessions = createSessions(parts, publicUrl);
  const refusals = createRefusals({ recordRefusal: parts.recordRefusal, sessions });
  await fastify.register(cookies);
  await fastify.register(forms);
  fastify.setErrorHandler(async (error, request, reply) => {
    const problem = problemFor(error, request);
    const { statusCode, headers } = problem;
    if (request.method === 'POST' && statusCode < 500 && statusCode !== 429)
      await refusals.record(request, 'a form that cannot be read');
    return sendPage(reply.headers(headers), problemPage(wordsOf(request), problem));
  });

  await fastify.register(async (pages) => {
    pages.addHook('onRequest', (request) => sessions.open(request));
    limitPages(pages, { perMinute, limits: parts.limits, sessions, refusals });
    acceptReturnUrls(pages, returnUrls, refusals);
    const nango = await nangoOf(pages, parts);
    const context: PageContext = { ...parts, sessions, refusals, nango };
    await pages.register(async (forms) => {
      // Other sites can send these types without a preflight; our forms do not use them.
      forms.removeContentTypeParser(['application/json', 'text/plain']);
      forms.addHook('onRequest', async (_request, reply) => void reply.headers(pageHeaders));
      loginRoutes(forms, context);
      questionRoutes(forms, context);
      authorizationRoutes(forms, context);
      settingsRoutes(forms, context);
      operatorRoutes(forms, context);
      if (parts.slack) slackPages(forms, context, parts.slack);
      if (nango) nangoCallback(forms, context);
    });
    const { uiUrl } = parts.config.temporal;
    // With the prefix, its route for preflights is another one than that of CORS_ORIGINS.
    if (uiUrl !== undefined)
      await pages.register(async (codec) => codecRoutes(codec, context, uiUrl), {
        prefix: '/operators/codec',
      });
    if (nango) await pages.register(async (asked) => nangoRoutes(asked, context, nango));
    if (parts.playground) playgroundRoutes(pages, { ...parts.playground, publicUrl, sessions });
    else pages.get('/', async (request, reply) => sendPage(reply, homePage(wordsOf(request), publicUrl)));
    clientRoutes(pages, parts);
  });
}

/** Null if no server keeps its accounts at Nango. */
async function nangoOf(pages: FastifyInstance, parts: PagesParts): Promise<NangoConnecting | null> {
  const { config, accounts, logger } = parts;
  const { nango } = config;
  if (!nango || !accounts.nango) return null;
  const script = await nangoAssets(pages, { publicUrl: config.http.publicUrl, nango, logger });
  return { script, ...accounts.nango };
}

interface PageLimits {
  /** Of one address. */
  perMinute: number;
  limits: Pick<Limits, 'page'>;
  sessions: Pick<Sessions, 'read'>;
  refusals: Refusals;
}

/** Limits requests per address, and per signed-in person. */
function limitPages(pages: FastifyInstance, { perMinute, limits, sessions, refusals }: PageLimits): void {
  const record = (request: FastifyRequest) =>
    refusals.record(request, 'too many requests', { isRepeatable: true });
  limitAddresses(
    pages,
    perMinute,
    (request) =>
      void record(request).catch((error: unknown) =>
        request.log.warn({ err: error }, 'a refusal could not be recorded'),
      ),
  );
  pages.addHook('preHandler', async (request) => {
    const session = sessions.read(request);
    const refusal = session && limits.page(session);
    if (!refusal) return;
    await record(request);
    throw refusal;
  });
}
