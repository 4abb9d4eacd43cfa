/** `/connections`: what the signed-in person has connected (GET), connecting and disconnecting it (POST). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ScopeQuerySchema, ServerParamsSchema } from '../../../contract/connections.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import type { PageContext } from '../context.ts';
import { keyPage } from '../key/pages.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { principalOf } from '../login/session.ts';
import { connectPage } from '../nango/pages.ts';
import { signedInAs } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';
import { approvalRoute } from './approvals-route.ts';
import { connect, disconnect, findOwn, settingsUrl } from './change.ts';
import { confirmPage } from './connection-pages.ts';
import { settingsPage } from './settings-page.ts';
import { readSignedForm } from './signed-form.ts';

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

export function settingsRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, connections, approvals, questionsOf, sessions } = context;
  const { publicUrl } = config.http;
  const signIn = (request: FastifyRequest) => loginUrl(publicUrl, null, request);

  fastify.get('/connections', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.redirect(signIn(request), 303);
    const query = listQuery.safeParse(request.query);
    const [list, remembered, questions, slackLinks] = await Promise.all([
      connections.list(principalOf(session)),
      approvals.list(principalOf(session)),
      questionsOf(principalOf(session)),
      context.slack?.links.ofUser(principalOf(session)) ?? [],
    ]);
    const justConnected = query.data?.connected;
    const view = {
      ...signedInAs(session, publicUrl),
      connections: list,
      approvals: remembered,
      questions,
      slackLinks,
      justConnected,
    };
    return sendPage(reply, settingsPage(view));
  });

  approvalRoute(fastify, context);

  for (const [path, pageOf] of Object.entries(pagesOfOne)) {
    fastify.get(path, async (request, reply) => {
      const session = sessions.read(request);
      if (!session) return reply.redirect(signIn(request), 303);
      const query = oneQuery.safeParse(request.query);
      const own = query.success ? await findOwn(context, session, query.data) : undefined;
      const page = own && pageOf(context, own, signedInAs(session, publicUrl));
      return page ? sendPage(reply, page) : reply.redirect(settingsUrl(config, request), 303);
    });
  }

  fastify.post('/connections', async (request, reply) => {
    const read = await readSignedForm(context, form, request, reply);
    if (!read) return reply;
    const { session, input } = read;
    const { csrf: _csrf, action, key: entered, ...which } = input;
    return sendPage(
      reply,
      await (action === 'connect'
        ? connect(context, session, { which, entered }, request)
        : disconnect(context, session, which, request)),
    );
  });
}

/** A page about one connection; null: it leads to all of them. */
type PageOfOne = (context: PageContext, own: OwnConnection, view: SignedIn) => Page | null;

const pagesOfOne: Record<string, PageOfOne> = {
  '/connections/disconnect': (_context, own, view) =>
    own.state.status === 'missing' ? null : confirmPage(view, own),

  '/connections/key': ({ config }, own, view) => {
    const server = config.servers.get(own.server);
    return server && own.connectedBy === 'key' ? keyPage(view, own, server.vault?.hint) : null;
  },

  '/connections/connect': ({ config, nango }, own, view) => {
    const server = config.servers.get(own.server);
    // Whoever gives an account to everybody is told so before.
    const { connectedBy, scope } = own;
    if (!server || connectedBy === 'key' || (connectedBy === 'sign-in' && scope === 'user')) return null;
    const isByWindow = connectedBy === 'window';
    const scopes = (isByWindow ? server.nango : server.oauth)?.scopes ?? [];
    return connectPage(view, own, scopes, isByWindow ? (nango?.script ?? null) : null);
  },
};
