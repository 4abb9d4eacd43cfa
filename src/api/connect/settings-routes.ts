/** `/connections`: what the signed-in person has connected (GET), connecting and disconnecting it (POST). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ServerParamsSchema } from '../../contract/connections.ts';
import { CredentialStoreError } from '../../credentials/store.ts';
import { ProblemError } from '../errors.ts';
import type { OwnConnection } from '../own-connections.ts';
import type { UserPrincipal } from '../principal.ts';
import { confirmPage, disconnectedPage, notConnectedPage } from './connection-pages.ts';
import type { ConnectDeps } from './deps.ts';
import { isFromOurPage } from './form.ts';
import { sendPage } from './layout.ts';
import type { Page } from './layout.ts';
import { leaveTo } from './leave.ts';
import { loginUrl } from './login.ts';
import { notice, signInAgainPage } from './outcome-pages.ts';
import { displayName, sessionHash } from './session.ts';
import type { Session, Sessions } from './session.ts';
import { settingsPage } from './settings-pages.ts';
import type { SignedIn } from './signed-in.ts';

const { server } = ServerParamsSchema.shape;
const listQuery = z.object({ connected: server.optional() });
const confirmQuery = z.object({ server });
const form = z.object({ server, csrf: z.string(), action: z.enum(['connect', 'disconnect']) });

export function settingsRoutes(fastify: FastifyInstance, deps: ConnectDeps, sessions: Sessions): void {
  const { config, connections, stores, storage, logger } = deps;
  const { publicUrl } = config.http;
  const settingsUrl = `${publicUrl}/connections`;
  const signIn = loginUrl(publicUrl, null);

  fastify.get('/connections', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.redirect(signIn, 303);
    const query = listQuery.safeParse(request.query);
    const list = await connections.list(principalOf(session));
    const view = { ...signedInAs(session, publicUrl), connections: list, news: query.data?.connected };
    return sendPage(reply, settingsPage(view));
  });

  fastify.get('/connections/disconnect', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.redirect(signIn, 303);
    const query = confirmQuery.safeParse(request.query);
    const own = query.success ? await find(session, query.data.server) : undefined;
    if (!own || own.state.status === 'missing') return reply.redirect(settingsUrl, 303);
    return sendPage(reply, confirmPage(signedInAs(session, publicUrl), own));
  });

  fastify.post('/connections', async (request, reply) => {
    const input = form.safeParse(request.body);
    if (!input.success)
      return sendPage(reply, notice(400, 'Nothing was changed', 'The form is incomplete.', settingsUrl));
    const session = sessions.read(request);
    if (!session) return sendPage(reply, signInAgainPage(signIn));
    if (!isFromOurPage(request, publicUrl, session, input.data.csrf)) {
      await auditRefusal(session, request, 'form from another page');
      return sendPage(reply, foreignForm(settingsUrl));
    }
    const decide = input.data.action === 'connect' ? connect : disconnect;
    return sendPage(reply, await decide(session, input.data.server, request));
  });

  async function find(session: Session, name: string): Promise<OwnConnection | undefined> {
    const list = await connections.list(principalOf(session));
    return list.find((own) => own.server === name && own.scope === 'user');
  }

  async function connect(session: Session, name: string, request: FastifyRequest): Promise<Page> {
    const own = await find(session, name);
    const target = config.servers.get(name);
    if (!own?.isInUse || !target) {
      await auditRefusal(session, request, 'connecting what is not a connection of their own');
      return notYours(settingsUrl);
    }
    const { tenant, user } = session;
    const { state } = own;
    try {
      return await leaveTo(stores.oauth, {
        server: target,
        key: { tenant, server: name, user },
        elicitationId: null,
        sessionHash: sessionHash(session),
        // Whoever connects again wants to go on with what it may do already.
        ...(state.status !== 'missing' && { scopes: state.row.scopes }),
      });
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      logger.warn({ server: name, reason: error.message }, 'connecting could not begin');
      const why = { kind: 'failed', message: error.message, canRetry: true } as const;
      return notConnectedPage(signedInAs(session, publicUrl), own, why);
    }
  }

  async function disconnect(session: Session, name: string, request: FastifyRequest): Promise<Page> {
    try {
      const ended = await connections.disconnect(principalOf(session), name, request.ip);
      return disconnectedPage(publicUrl, ended.serverTitle, ended);
    } catch (error) {
      if (!(error instanceof ProblemError) || ![403, 404].includes(error.statusCode)) throw error;
      return notYours(settingsUrl);
    }
  }

  function auditRefusal(
    { tenant, user: actor }: Session,
    { ip: address }: FastifyRequest,
    detail: string,
  ): Promise<void> {
    const refusal = { tenant, elicitationId: '', actor, action: 'refused', detail, address } as const;
    return storage.audit.record({ at: Date.now(), ...refusal });
  }
}

/** How a session appears on its pages. */
export function signedInAs(session: Session, publicUrl: string): SignedIn {
  return { signedInAs: displayName(session), csrf: session.csrf, publicUrl };
}

function principalOf({ tenant, user }: Session): UserPrincipal {
  return { kind: 'user', tenant, user };
}

function foreignForm(settingsUrl: string): Page {
  const explanation = 'This form did not come from our page. Open your connections and decide there.';
  return notice(403, 'Nothing was changed', explanation, settingsUrl);
}

function notYours(settingsUrl: string): Page {
  return notice(404, 'Nothing was changed', 'You have no such connection to change.', settingsUrl);
}
