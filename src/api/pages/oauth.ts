/** Where authorization servers send the browser back, and what they read about us as their client. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConnectionKey, Completion } from '../../service/accounts.ts';
import type { PageContext, PagesParts } from './context.ts';
import { signedInAs } from './guarded-form.ts';
import { sendPage } from './layout.ts';
import type { Page } from './layout.ts';
import { principalOf, sessionHash } from './login/session.ts';
import type { Session } from './login/session.ts';
import { finishedPage, notice } from './outcome-pages.ts';
import { accountView, deniedPage, failedPage } from './question/account-pages.ts';
import type { AccountView } from './question/account-pages.ts';
import { allowedReturnUrl, keepingReturn } from './return-url.ts';
import { notConnectedPage } from './settings/connection-pages.ts';
import { wordsFor, wordsOf } from './words.ts';

export function authorizationRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, accounts, sessions, refusals, logger } = context;
  const { publicUrl, returnUrls } = config.http;

  fastify.get('/auth/callback/:issuer', async (request, reply) => {
    const here = sessions.read(request);
    if (!here) {
      logger.warn({ address: request.ip }, 'an authorization came back to a browser that is not signed in');
      await refusals.record(request, 'a callback without a session');
      return sendPage(reply, notice(wordsOf(request), 400, 'otherBrowser'));
    }
    const done = await accounts.completeAuthorization({
      callback: new URL(publicUrl + request.url),
      sessionHash: sessionHash(here),
      principal: principalOf(here),
      address: request.ip,
    });
    if (done.kind !== 'unknown-state') request.returnUrl = allowedReturnUrl(done.returnUrl, returnUrls);
    if (done.kind === 'connected')
      return reply.redirect(publicUrl + keepingReturn(doneAt(done.elicitationId, done.server), request), 303);
    const session = { ...here, returnUrl: request.returnUrl };
    return sendPage(reply, await pageFor(context, done, session, request));
  });
}

async function pageFor(
  context: PageContext,
  done: Exclude<Completion, { kind: 'connected' }>,
  session: Session,
  request: FastifyRequest,
): Promise<Page> {
  const { refusals, logger } = context;
  const words = wordsFor(session.language);
  switch (done.kind) {
    case 'denied': {
      const { elicitationId, key } = done;
      return elicitationId === null
        ? settingsPage(context, key, session, { kind: 'denied' })
        : stillOpen(context, elicitationId, session, (question) => deniedPage(question));
    }
    case 'failed': {
      const { elicitationId, key, server, trouble, reason, retry: canRetry, isForeign } = done;
      logger.warn({ tenant: key.tenant, server, elicitationId, reason }, 'connecting failed');
      const what = isForeign ? 'a callback from another sign-in server' : 'a callback that cannot be used';
      await refusals.record(request, what, { elicitationId: elicitationId ?? '', detail: server });
      return elicitationId === null
        ? settingsPage(context, key, session, {
            kind: 'failed',
            lead: words.account.trouble(trouble),
            canRetry,
          })
        : stillOpen(context, elicitationId, session, (question) =>
            failedPage(question, words.account.trouble(trouble), canRetry),
          );
    }
    case 'not-allowed': {
      const elicitationId = done.elicitationId ?? '';
      const detail = done.server;
      await refusals.record(request, 'connecting a shared account', { elicitationId, detail });
      return notice(words, 403, 'notYoursToConnect');
    }
    case 'unknown-state':
      await refusals.record(request, 'callback without an attempt in this browser');
      return notice(words, 400, 'otherBrowser');
    default:
      return done satisfies never;
  }
}

/** For authorizations that began on the settings page. */
function settingsPage(
  { config }: PageContext,
  { server, user }: ConnectionKey,
  session: Session,
  why: Parameters<typeof notConnectedPage>[2],
): Page {
  const { title: serverTitle = server, colour, picture } = config.servers.get(server) ?? {};
  const scope = user === null ? 'project' : 'user';
  const own = { server, serverTitle, colour, picture, scope } as const;
  return notConnectedPage(signedInAs(session, config.http.publicUrl), own, why);
}

/** The given page, unless the question has been settled meanwhile. */
async function stillOpen(
  context: PageContext,
  elicitationId: string,
  session: Session,
  page: (view: AccountView) => Page,
): Promise<Page> {
  const found = await context.accounts.findQuestion(elicitationId, session);
  if (found.kind === 'open') return page(accountView(found.question, context.config, session));
  const words = wordsFor(session.language);
  return found.kind === 'finished' ? finishedPage(words, found.outcome) : notice(words, 404, 'unknown');
}

function doneAt(elicitationId: string | null, server: string): string {
  return elicitationId === null
    ? `/connections?${new URLSearchParams({ connected: server }).toString()}`
    : `/auth/done?${new URLSearchParams({ e: elicitationId }).toString()}`;
}

/** Client id metadata documents, and for operators: the clients that they have to register by hand. */
export function clientRoutes(
  fastify: FastifyInstance,
  { oauthClient, logger }: Pick<PagesParts, 'oauthClient' | 'logger'>,
): void {
  fastify.get<{ Params: { document: string } }>('/auth/client/:document', async (request, reply) => {
    const { document: name } = request.params;
    const document = name.endsWith('.json') ? oauthClient.document(name.replace(/\.json$/, '')) : null;
    return document ?? sendPage(reply, notice(wordsOf(request), 404, 'nothingHere'));
  });

  for (const registration of oauthClient.registrations())
    logger.info(
      registration,
      'a client of ours at this sign-in server has to be registered with this redirect URI',
    );
}
