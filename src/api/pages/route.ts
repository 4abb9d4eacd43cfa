/**
 * The hosted pages: where a person gives an account to a question, and where they look after the accounts they gave.
 * A link carries no right of its own; only the signed-in person who was asked sees the question or can act on it,
 * every refusal is audited, and reading a page changes nothing, so link previews may fetch it.
 */
import cookies from '@fastify/cookie';
import forms from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import { problemFor } from '../http/answer-with-problems.ts';
import { answerRoutes } from './answer/routes.ts';
import { authorizationRoutes } from './oauth/callback.ts';
import { clientRoutes } from './oauth/client-documents.ts';
import type { NangoConnecting, PageContext, PagesParts } from './context.ts';
import { pageHeaders, sendPage } from './layout.ts';
import { limitPages } from './limits.ts';
import { loginRoutes } from './login/routes.ts';
import { nangoAssets } from './nango/assets.ts';
import { nangoCallback } from './nango/callback.ts';
import { nangoRoutes } from './nango/routes.ts';
import { homePage, notice } from './outcome-pages.ts';
import { codecRoutes } from './operators/codec.ts';
import { operatorRoutes } from './operators/routes.ts';
import { questionRoutes } from './question/routes.ts';
import { createRefusals } from './refusals.ts';
import { acceptReturnUrls } from './return-url.ts';
import { createSessions } from './login/session.ts';
import { playgroundRoutes } from './playground/routes.ts';
import { slackPages } from './slack/routes.ts';
import { settingsRoutes } from './settings/routes.ts';

export type { PagesParts } from './context.ts';

/** A Fastify plugin: `fastify.register(connectPages, parts)`. */
export async function connectPages(fastify: FastifyInstance, parts: PagesParts): Promise<void> {
  const { publicUrl, returnUrls, rateLimitPerMinute: perMinute } = parts.config.http;
  const sessions = createSessions(parts, publicUrl);
  const refusals = createRefusals({ recordRefusal: parts.recordRefusal, sessions });
  await fastify.register(cookies);
  // Room for the longest key that the form takes, whatever is in it: each character may arrive as nine.
  await fastify.register(forms, { bodyLimit: 50_000 });
  fastify.setErrorHandler(async (error, request, reply) => {
    const { statusCode, code, headers } = problemFor(error, request);
    if (request.method === 'POST' && statusCode < 500 && statusCode !== 429)
      await refusals.record(request, 'a form that cannot be read');
    const [heading, explanation] = problemWords[code] ?? ['Something went wrong', 'Try again in a moment.'];
    return sendPage(reply.headers(headers), notice(statusCode, heading, explanation));
  });

  await fastify.register(async (pages) => {
    pages.addHook('onRequest', (request) => sessions.open(request));
    await limitPages(pages, { perMinute, sessions, refusals });
    acceptReturnUrls(pages, returnUrls, refusals);
    const nango = await nangoOf(pages, parts);
    const context: PageContext = { ...parts, sessions, refusals, nango };
    await pages.register(async (forms) => {
      // What another site can send without asking first is a form as well, but none of ours.
      forms.removeContentTypeParser(['application/json', 'text/plain']);
      forms.addHook('onRequest', async (_request, reply) => void reply.headers(pageHeaders));
      loginRoutes(forms, context);
      questionRoutes(forms, context);
      answerRoutes(forms, context);
      authorizationRoutes(forms, context);
      settingsRoutes(forms, context);
      operatorRoutes(forms, context);
      if (parts.slack) slackPages(forms, context, parts.slack);
      if (nango) nangoCallback(forms, context);
    });
    const { uiUrl } = parts.config.temporal;
    if (uiUrl !== undefined) await pages.register(async (codec) => codecRoutes(codec, context, uiUrl));
    if (nango) await pages.register(async (asked) => nangoRoutes(asked, context, nango));
    if (parts.playground) playgroundRoutes(pages, { ...parts.playground, publicUrl, sessions });
    else pages.get('/', async (_, reply) => sendPage(reply, homePage(publicUrl)));
    clientRoutes(pages, parts);
  });
}

/** Null where no server keeps its accounts at Nango. */
async function nangoOf(pages: FastifyInstance, parts: PagesParts): Promise<NangoConnecting | null> {
  const { config, accounts, logger } = parts;
  const { nango } = config;
  if (!nango || !accounts.nango) return null;
  const script = await nangoAssets(pages, { publicUrl: config.http.publicUrl, nango, logger });
  return { script, ...accounts.nango };
}

const problemWords: Record<string, [heading: string, explanation: string]> = {
  rate_limited: ['Too many tries', 'Wait a minute, then open the page again.'],
  body_too_large: ['That is too much', 'Nothing was changed. Go back, and send less.'],
  unavailable: [
    'Not available right now',
    'Try again in a moment. What you sent may have arrived nevertheless: the page you came from shows what has come of it.',
  ],
  unknown_host: ['Not the address of this page', 'Open it by the address that you were given.'],
  unsupported_media_type: ['This form is not understood', 'Open the page you came from again.'],
};
