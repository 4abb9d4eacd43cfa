/** A person's three pages: what waits for them, their accounts, and what they have answered; connecting, disconnecting, withdrawing. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ScopeQuerySchema, ServerParamsSchema } from '@interlude-ai/core/contract/connections.ts';
import type { OwnConnection, Scope } from '../../../service/connections.ts';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { Question } from '../../../service/questions.ts';
import type { PageContext } from '../context.ts';
import { keyPage } from '../key-pages.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { loginUrl, pathOf } from '../login/routes.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { connect } from '../connect.ts';
import type { ConnectGoal } from '../connect.ts';
import { connectPage, connectWithNango } from '../nango/pages.ts';
import { notice } from '../outcome-pages.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { onForm, signedInAs } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import { confirmPage, disconnectedPage, notConnectedPage } from './connection-pages.ts';
import { wordsOf } from '../words.ts';
import { accountsPage } from './accounts-page.ts';
import { historyPage } from './history-page.ts';
import type { SettingsView } from './settings-page.ts';
import { waitingPage } from './waiting-page.ts';

const { server } = ServerParamsSchema.shape;
const { scope } = ScopeQuerySchema.shape;
const listQuery = z.object({ connected: server.optional() });
const oneQuery = z.object({ server, scope });
const input = z.object({
  server,
  scope,
  action: z.enum(['connect', 'disconnect']),
  /** An API key, if the server needs one. */
  key: z.string().optional(),
});
const approvalInput = z.object({ approval: ElicitationIdSchema });

export function settingsRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, approvals, questionsOf, sessions } = context;
  const { publicUrl } = config.http;
  const signIn = (request: FastifyRequest) => loginUrl(publicUrl, null, request);

  for (const [to, pageOf] of Object.entries(settingsPages))
    fastify.get(pathOf[to as keyof typeof settingsPages], async (request, reply) => {
      const session = sessions.read(request);
      if (!session) return reply.redirect(loginUrl(publicUrl, null, request, { to }), 303);
      const principal = principalOf(session);
      const questions = await questionsOf(principal);
      const view = { ...signedInAs(session, publicUrl), waiting: questions.length, questions };
      return sendPage(reply, await pageOf(context, { principal, view, query: request.query }));
    });

  for (const [path, pageOf] of Object.entries(pagesOfOne)) {
    fastify.get(path, async (request, reply) => {
      const session = sessions.read(request);
      if (!session) return reply.redirect(signIn(request), 303);
      const query = oneQuery.safeParse(request.query);
      const own = query.success ? await findOwn(context, session, query.data) : undefined;
      const page = own && pageOf(context, own, signedInAs(session, publicUrl));
      return page ? sendPage(reply, page) : reply.redirect(settingsUrl(publicUrl, request), 303);
    });
  }

  const page = (request: FastifyRequest) => settingsUrl(publicUrl, request);
  const historyUrl = (request: FastifyRequest) => keepingReturn(`${publicUrl}${pathOf.history}`, request);
  onForm(fastify, context, {
    path: '/connections/approvals',
    input: approvalInput,
    page: historyUrl,
    async handle({ input: { approval }, session, request }) {
      try {
        await approvals.withdraw(principalOf(session), approval, request.ip);
      } catch (error) {
        // Already withdrawn.
        if (!(error instanceof ServiceError) || error.code !== 'approval_not_found') throw error;
      }
      return { redirectTo: `${historyUrl(request)}#approvals` };
    },
  });

  onForm(fastify, context, {
    path: '/connections',
    input,
    page,
    handle: ({ input: { action, key: entered, ...which }, session, request }) =>
      action === 'connect'
        ? connectOwn(context, session, { which, entered }, request)
        : disconnect(context, session, which, request),
  });
}

interface Asked {
  principal: ReturnType<typeof principalOf>;
  /** `questions`: the open ones. */
  view: SettingsView & { questions: Question[] };
  query: unknown;
}

const settingsPages = {
  waiting: async (_context: PageContext, { view }: Asked) => waitingPage(view),

  async connections({ connections, slack }: PageContext, { principal, view, query }: Asked) {
    const [list, slackLinks] = await Promise.all([
      connections.list(principal),
      slack?.links.ofUser(principal) ?? [],
    ]);
    const justConnected = listQuery.safeParse(query).data?.connected;
    return accountsPage({ ...view, connections: list, slackLinks, justConnected });
  },

  async history({ answeredBy, approvals }: PageContext, { principal, view }: Asked) {
    const [answered, remembered] = await Promise.all([answeredBy(principal), approvals.list(principal)]);
    return historyPage({ ...view, answered, approvals: remembered });
  },
};

interface Which {
  server: string;
  scope: Scope;
}

/** Undefined if the person may not change it. */
async function findOwn(
  { connections }: PageContext,
  session: Session,
  which: Which,
): Promise<OwnConnection | undefined> {
  const list = await connections.list(principalOf(session));
  return list.find((own) => own.server === which.server && own.scope === which.scope && own.mayChange);
}

async function connectOwn(
  context: PageContext,
  session: Session,
  { which, entered }: { which: Which; entered: string | undefined },
  request: FastifyRequest,
): Promise<Page | Redirect> {
  const { config, accounts, nango, refusals } = context;
  const { publicUrl } = config.http;
  const own = await findOwn(context, session, which);
  const server = config.servers.get(which.server);
  if (!own?.isInUse || !server) {
    await refusals.record(request, 'connecting what is not a connection of their own');
    return notYours(context, request);
  }
  const { tenant, user } = session;
  const key = { tenant, server: server.name, user: own.scope === 'project' ? null : user };
  const before = own.state.status === 'missing' ? 0 : own.state.row.version;
  const view = signedInAs(session, publicUrl);
  const query = new URLSearchParams({ connected: server.name }).toString();
  const goal: ConnectGoal = {
    server,
    key,
    elicitationId: null,
    doneUrl: keepingReturn(`${publicUrl}/connections?${query}`, request),
    isReached: () => accounts.isConnectedSince(key, before),
    keyPage: (problem) => keyPage(view, own, server.vault?.hint, problem),
    failedPage(trouble) {
      const page = notConnectedPage(view, own, {
        kind: 'failed',
        lead: view.words.account.trouble(trouble),
        canRetry: true,
      });
      return own.connectedBy === 'window' ? connectWithNango(page, view, own, nango?.script ?? null) : page;
    },
    logFields: {},
  };
  return connect(context, goal, { session, address: request.ip }, entered);
}

async function disconnect(
  context: PageContext,
  session: Session,
  which: Which,
  request: FastifyRequest,
): Promise<Page> {
  const { config, connections, refusals } = context;
  try {
    const ended = await connections.disconnect(principalOf(session), which, request.ip);
    return disconnectedPage(signedInAs(session, config.http.publicUrl), ended.serverTitle, ended);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'unavailable') throw error;
    // The service itself audits `forbidden`.
    if (error.code !== 'forbidden')
      await refusals.record(request, 'disconnecting what is not a connection of their own');
    return notYours(context, request);
  }
}

function notYours({ config }: PageContext, request: FastifyRequest): Page {
  const again = settingsUrl(config.http.publicUrl, request);
  return notice(wordsOf(request), 404, 'notYourConnection', again);
}

/** A page about one connection. Null: redirect to all of them. */
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
    // Connecting a shared account is confirmed on a page first.
    const { connectedBy, scope } = own;
    if (!server || connectedBy === 'key' || (connectedBy === 'sign-in' && scope === 'user')) return null;
    const isByWindow = connectedBy === 'window';
    const scopes = (isByWindow ? server.nango : server.oauth)?.scopes ?? [];
    return connectPage(view, own, scopes, isByWindow ? (nango?.script ?? null) : null);
  },
};
