/** `/connections`: what the signed-in person has connected (GET), connecting and disconnecting it (POST). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ServerConfig } from '../../../config/config.ts';
import { ScopeQuerySchema, ServerParamsSchema } from '../../../contract/connections.ts';
import { CredentialStoreError } from '../../../credentials/store-error.ts';
import type { ConnectionKey } from '../../../storage/ports/connections.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { OwnConnection, Scope } from '../../../service/connections.ts';
import { confirmPage, disconnectedPage, notConnectedPage } from './connection-pages.ts';
import type { ConnectDeps } from '../deps.ts';
import { isFromOurPage } from '../form.ts';
import { createEnterKey } from '../key/entry.ts';
import { keyPage } from '../key/pages.ts';
import type { KeyProblem } from '../key/pages.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { leaveByNango, leaveTo } from '../leave.ts';
import { loginUrl } from '../login/routes.ts';
import type { NangoConnecting } from '../nango/connecting.ts';
import { connectPage, connectWithNango } from '../nango/pages.ts';
import { notice, signInAgainPage } from '../outcome-pages.ts';
import type { Refusals } from '../refusals.ts';
import { keepingReturn } from '../return-url.ts';
import { displayName, principalOf, sessionHash } from '../login/session.ts';
import type { Session, Sessions } from '../login/session.ts';
import { settingsPage } from './settings-page.ts';
import type { SignedIn } from '../signed-in.ts';

const { server } = ServerParamsSchema.shape;
const { scope } = ScopeQuerySchema.shape;
const listQuery = z.object({ connected: server.optional() });
const oneQuery = z.object({ server, scope });
const form = z.object({
  server,
  scope,
  csrf: z.string(),
  action: z.enum(['connect', 'disconnect']),
  /** An API key, where one is asked for. */
  key: z.string().optional(),
});

interface Which {
  server: string;
  scope: Scope;
}

export function settingsRoutes(
  fastify: FastifyInstance,
  deps: ConnectDeps,
  sessions: Sessions,
  refusals: Refusals,
  nango: NangoConnecting | null,
): void {
  const { config, connections, stores, storage, logger } = deps;
  const { publicUrl } = config.http;
  const enterKey = createEnterKey(deps);
  const settingsUrl = (request: FastifyRequest) => keepingReturn(`${publicUrl}/connections`, request);
  const signIn = (request: FastifyRequest) => loginUrl(publicUrl, null, request);

  fastify.get('/connections', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.redirect(signIn(request), 303);
    const query = listQuery.safeParse(request.query);
    const list = await connections.list(principalOf(session));
    const view = { ...signedInAs(session, publicUrl), connections: list, news: query.data?.connected };
    return sendPage(reply, settingsPage(view));
  });

  showOne('/connections/disconnect', (own, view) =>
    own.state.status === 'missing' ? null : confirmPage(view, own),
  );
  showOne('/connections/key', (own, view) => {
    const target = config.servers.get(own.server);
    return target?.store === 'vault' ? keyPage(view, own, target.vault?.hint) : null;
  });
  showOne('/connections/connect', (own, view) => {
    const target = config.servers.get(own.server);
    // Whoever gives an account to everybody is told so before.
    if (!target || target.store === 'vault' || (target.store === 'oauth' && own.scope === 'user'))
      return null;
    const isNango = target.store === 'nango';
    const scopes = (isNango ? target.nango : target.oauth)?.scopes ?? [];
    return connectPage(view, own, scopes, isNango ? (nango?.script ?? null) : null);
  });

  /** A page about one connection; null, or no such connection: it leads to all of them. */
  function showOne(path: string, show: (own: OwnConnection, view: SignedIn) => Page | null): void {
    fastify.get(path, async (request, reply) => {
      const session = sessions.read(request);
      if (!session) return reply.redirect(signIn(request), 303);
      const query = oneQuery.safeParse(request.query);
      const own = query.success ? await find(session, query.data) : undefined;
      const page = own && show(own, signedInAs(session, publicUrl));
      return page ? sendPage(reply, page) : reply.redirect(settingsUrl(request), 303);
    });
  }

  fastify.post('/connections', async (request, reply) => {
    const input = form.safeParse(request.body);
    if (!input.success) {
      await refusals.record(request, 'an incomplete form');
      const explanation = 'The form is incomplete.';
      return sendPage(reply, notice(400, 'Nothing was changed', explanation, settingsUrl(request)));
    }
    const session = sessions.read(request);
    if (!session) {
      await refusals.record(request, 'a form without a session');
      return sendPage(reply, signInAgainPage(signIn(request)));
    }
    if (!isFromOurPage(request, publicUrl, session, input.data.csrf)) {
      await refusals.record(request, 'form from another page');
      return sendPage(reply, foreignForm(settingsUrl(request)));
    }
    const { action, key } = input.data;
    return sendPage(
      reply,
      await (action === 'connect'
        ? connect(session, input.data, key, request)
        : disconnect(session, input.data, request)),
    );
  });

  /** Only what they may change. */
  async function find(session: Session, which: Which): Promise<OwnConnection | undefined> {
    const list = await connections.list(principalOf(session));
    return list.find((own) => own.server === which.server && own.scope === which.scope && own.mayChange);
  }

  async function connect(
    session: Session,
    which: Which,
    entered: string | undefined,
    request: FastifyRequest,
  ): Promise<Page | Redirect> {
    const { server: name } = which;
    const own = await find(session, which);
    const target = config.servers.get(name);
    if (!own?.isInUse || !target) {
      await refusals.record(request, 'connecting what is not a connection of their own');
      return notYours(settingsUrl(request));
    }
    const { tenant, user } = session;
    const account = { tenant, server: name, user: own.scope === 'project' ? null : user };
    if (target.store === 'vault') {
      const show = (problem?: KeyProblem) =>
        keyPage(signedInAs(session, publicUrl), own, target.vault?.hint, problem);
      if (entered === undefined) return show();
      const address = request.ip;
      const given = { server: target, key: account, entered };
      const problem = await enterKey({ ...given, user, address, elicitationId: null });
      if (problem) return show(problem);
      return isConnected(name, request);
    }
    try {
      if (nango && target.store === 'nango')
        return await connectByNango(nango, { own, target, account }, session, request);
      return await leaveTo(stores.oauth, {
        server: target,
        key: account,
        elicitationId: null,
        sessionHash: sessionHash(session),
        returnUrl: session.returnUrl,
      });
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      logger.warn({ server: name, reason: error.forOperator }, 'connecting could not begin');
      const why = { kind: 'failed', message: error.message, canRetry: true } as const;
      const view = signedInAs(session, publicUrl);
      const page = notConnectedPage(view, own, why);
      return target.store === 'nango' ? connectWithNango(page, view, own, nango?.script ?? null) : page;
    }
  }

  async function connectByNango(
    { lookBack, store }: NangoConnecting,
    { own, target, account: key }: { own: OwnConnection; target: ServerConfig; account: ConnectionKey },
    { user: actor }: Session,
    request: FastifyRequest,
  ): Promise<Page | Redirect> {
    const before = own.state.status === 'missing' ? 0 : own.state.row.version;
    await lookBack(key, null, request.ip);
    const row = await storage.connections.get(key);
    if (row?.status === 'active' && row.version > before) return isConnected(target.name, request);
    return leaveByNango(store, { server: target, key, elicitationId: null, actor });
  }

  function isConnected(name: string, request: FastifyRequest): Redirect {
    const news = new URLSearchParams({ connected: name }).toString();
    return { redirectTo: keepingReturn(`${publicUrl}/connections?${news}`, request) };
  }

  async function disconnect(session: Session, which: Which, request: FastifyRequest): Promise<Page> {
    try {
      const ended = await connections.disconnect(principalOf(session), which, request.ip);
      return disconnectedPage(signedInAs(session, publicUrl), ended.serverTitle, ended);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'unavailable') throw error;
      // A shared one is refused, and that is recorded, where connections are ended.
      if (error.code !== 'forbidden')
        await refusals.record(request, 'disconnecting what is not a connection of their own');
      return notYours(settingsUrl(request));
    }
  }
}

/** How a session appears on its pages. */
export function signedInAs(session: Session, publicUrl: string): SignedIn {
  const { tenant, csrf, returnUrl } = session;
  return { signedInAs: displayName(session), tenant, csrf, publicUrl, returnUrl };
}

function foreignForm(settingsUrl: string): Page {
  const explanation = 'This form did not come from our page. Open your connections and decide there.';
  return notice(403, 'Nothing was changed', explanation, settingsUrl);
}

function notYours(settingsUrl: string): Page {
  return notice(404, 'Nothing was changed', 'You have no such connection to change.', settingsUrl);
}
