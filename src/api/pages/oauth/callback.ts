/** `/auth/callback`: the authorization server sends the browser back, with an account or without. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sharedCallbackPath } from '../../../credentials/mcp-oauth/client-metadata.ts';
import type { ConnectionKey } from '../../../storage/ports/connections.ts';
import { notConnectedPage } from '../settings/connection-pages.ts';
import type { ConnectDeps } from '../deps.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { finishedPage, notice, unknownPage } from '../outcome-pages.ts';
import { deniedPage, failedPage } from '../question/pages.ts';
import { findQuestion, viewOf } from '../question/find-question.ts';
import type { Refusals } from '../refusals.ts';
import { allowedReturnUrl, keepingReturn } from '../return-url.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import type { Session, Sessions } from '../login/session.ts';
import { signedInAs } from '../settings/routes.ts';

const wrongBrowser = notice(
  400,
  'This cannot be finished here',
  'Connecting was begun in another browser, or too long ago. Nothing was connected; begin again where you came from.',
);

const notForYou = notice(
  403,
  'This is not yours to connect',
  'Everybody uses this account, and only an operator connects it. Nothing was connected.',
);

export function authorizationRoutes(
  fastify: FastifyInstance,
  deps: ConnectDeps,
  sessions: Sessions,
  refusals: Refusals,
): void {
  const { config, stores, confirmConnection, logger } = deps;
  const { publicUrl, returnUrls } = config.http;

  // Each sign-in server has its own.
  for (const path of [sharedCallbackPath, `${sharedCallbackPath}/:issuer`]) fastify.get(path, comeBack);

  async function comeBack(request: FastifyRequest, reply: FastifyReply) {
    const here = sessions.read(request);
    if (!here) {
      logger.warn({ address: request.ip }, 'an authorization came back to a browser that is not signed in');
      await refusals.record(request, 'a callback without a session');
      return sendPage(reply, wrongBrowser);
    }
    const done = await stores.oauth.complete({
      callback: new URL(publicUrl + request.url),
      sessionHash: sessionHash(here),
      serverByName: (name) => config.servers.get(name),
      mayChange: (key) => deps.mayChange(principalOf(here), key),
    });
    if (done.kind !== 'unknown-state') request.returnUrl = allowedReturnUrl(done.returnUrl, returnUrls);
    const session = { ...here, returnUrl: request.returnUrl };
    switch (done.kind) {
      case 'connected': {
        const { elicitationId, server, key, version } = done;
        const { user: actor } = session;
        const address = request.ip;
        await confirmConnection({ key, version, actor, elicitationId, address, isNew: true });
        return reply.redirect(publicUrl + keepingReturn(doneAt(elicitationId, server), request), 303);
      }
      case 'denied': {
        const { elicitationId } = done;
        return sendPage(
          reply,
          elicitationId === null
            ? settings(done.key, session, { kind: 'denied' })
            : await stillOpen(elicitationId, session, (question) => deniedPage(question)),
        );
      }
      case 'failed': {
        const { elicitationId, server, message, reason, retry: canRetry, isForeign } = done;
        logger.warn({ server, elicitationId, reason }, 'connecting failed');
        const what = isForeign ? 'a callback from another sign-in server' : 'a callback that cannot be used';
        await refusals.record(request, what, { elicitationId: elicitationId ?? '', detail: server });
        return sendPage(
          reply,
          elicitationId === null
            ? settings(done.key, session, { kind: 'failed', message, canRetry })
            : await stillOpen(elicitationId, session, (question) => failedPage(question, message, canRetry)),
        );
      }
      case 'not-allowed': {
        const elicitationId = done.elicitationId ?? '';
        const detail = done.server;
        await refusals.record(request, 'connecting a shared account', { elicitationId, detail });
        return sendPage(reply, notForYou);
      }
      case 'unknown-state':
        await refusals.record(request, 'callback without an attempt in this browser');
        return sendPage(reply, wrongBrowser);
      default:
        return done satisfies never;
    }
  }

  /** The same for who came from the settings page. */
  function settings(
    { server, user }: ConnectionKey,
    session: Session,
    why: Parameters<typeof notConnectedPage>[2],
  ): Page {
    const serverTitle = config.servers.get(server)?.title ?? server;
    const scope = user === null ? 'project' : 'user';
    return notConnectedPage(signedInAs(session, publicUrl), { server, serverTitle, scope }, why);
  }

  /** The page to decide again on, unless the question has been settled meanwhile. */
  async function stillOpen(
    elicitationId: string,
    session: Session,
    page: (view: ReturnType<typeof viewOf>) => Page,
  ): Promise<Page> {
    const found = await findQuestion(deps, elicitationId, session);
    if (found.kind === 'open') return page(viewOf(found.question, config, session));
    return found.kind === 'finished' ? finishedPage(found.outcome) : unknownPage();
  }
}

function doneAt(elicitationId: string | null, server: string): string {
  return elicitationId === null
    ? `/connections?${new URLSearchParams({ connected: server }).toString()}`
    : `/auth/done?${new URLSearchParams({ e: elicitationId }).toString()}`;
}
