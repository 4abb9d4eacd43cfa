/** Connecting and disconnecting on the settings page. Each answers with the page to show next. */
import type { FastifyRequest } from 'fastify';
import type { ServerConfig } from '../../../config/config.ts';
import { CredentialStoreError } from '../../../service/accounts.ts';
import type { ConnectionKey } from '../../../service/accounts.ts';
import type { OwnConnection, Scope } from '../../../service/connections.ts';
import { ServiceError } from '../../../service/service-error.ts';
import { requireNango } from '../context.ts';
import type { NangoConnecting, PageContext } from '../context.ts';
import { keyPage, keyProblemOf } from '../key/pages.ts';
import type { KeyProblem } from '../key/pages.ts';
import type { Page, Redirect } from '../layout.ts';
import { leaveByNango, leaveTo } from '../leave.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { connectWithNango } from '../nango/pages.ts';
import { notice } from '../outcome-pages.ts';
import { keepingReturn } from '../return-url.ts';
import { signedInAs } from '../signed-in.ts';
import { disconnectedPage, notConnectedPage } from './connection-pages.ts';

/** Of two accounts of one server, those of a user and of everybody. */
export interface Which {
  server: string;
  scope: Scope;
}

/** What is to be connected: as it is listed, at which server, and under which key. */
interface Target {
  own: OwnConnection;
  server: ServerConfig;
  key: ConnectionKey;
}

/** Only what they may change. */
export async function findOwn(
  { connections }: PageContext,
  session: Session,
  which: Which,
): Promise<OwnConnection | undefined> {
  const list = await connections.list(principalOf(session));
  return list.find((own) => own.server === which.server && own.scope === which.scope && own.mayChange);
}

/** `entered`: an API key, if the form had one. */
export async function connect(
  context: PageContext,
  session: Session,
  { which, entered }: { which: Which; entered: string | undefined },
  request: FastifyRequest,
): Promise<Page | Redirect> {
  const { config, accounts, refusals } = context;
  const own = await findOwn(context, session, which);
  const server = config.servers.get(which.server);
  if (!own?.isInUse || !server) {
    await refusals.record(request, 'connecting what is not a connection of their own');
    return notYours(context, request);
  }
  const { tenant, user } = session;
  const key = { tenant, server: server.name, user: own.scope === 'project' ? null : user };
  const target = { own, server, key };
  const connectedBy = accounts.connectedBy(server);
  if (connectedBy === 'key') return giveKey(context, target, session, entered, request);
  try {
    switch (connectedBy) {
      case 'window':
        return await connectByNango(context, requireNango(context), target, session, request);
      case 'sign-in':
        return await leaveTo(accounts, {
          server,
          key,
          elicitationId: null,
          sessionHash: sessionHash(session),
          returnUrl: session.returnUrl,
        });
      default:
        return connectedBy satisfies never;
    }
  } catch (error) {
    return couldNotBegin(context, target, session, error);
  }
}

async function giveKey(
  context: PageContext,
  { own, server, key }: Target,
  session: Session,
  entered: string | undefined,
  request: FastifyRequest,
): Promise<Page | Redirect> {
  const view = signedInAs(session, context.config.http.publicUrl);
  const show = (problem?: KeyProblem) => keyPage(view, own, server.vault?.hint, problem);
  if (entered === undefined) return show();
  const by = { actor: session.user, address: request.ip, elicitationId: null };
  const refused = await context.accounts.giveKey({ server, key, entered, ...by });
  return refused ? show(keyProblemOf(refused)) : isConnected(context, server, request);
}

async function connectByNango(
  context: PageContext,
  nango: NangoConnecting,
  { own, server, key }: Target,
  { user: actor }: Session,
  request: FastifyRequest,
): Promise<Page | Redirect> {
  const before = own.state.status === 'missing' ? 0 : own.state.row.version;
  await nango.lookBack(key, null, request.ip);
  if (await context.accounts.isConnectedSince(key, before)) return isConnected(context, server, request);
  return leaveByNango(nango, { server, key, elicitationId: null, actor });
}

function couldNotBegin(
  { config, nango, logger }: PageContext,
  { own, server }: Target,
  session: Session,
  error: unknown,
): Page {
  if (!(error instanceof CredentialStoreError)) throw error;
  logger.warn({ server: server.name, reason: error.forOperator }, 'connecting could not begin');
  const why = { kind: 'failed', message: error.message, canRetry: true } as const;
  const view = signedInAs(session, config.http.publicUrl);
  const page = notConnectedPage(view, own, why);
  return own.connectedBy === 'window' ? connectWithNango(page, view, own, nango?.script ?? null) : page;
}

function isConnected(context: PageContext, { name }: ServerConfig, request: FastifyRequest): Redirect {
  const { publicUrl } = context.config.http;
  const query = new URLSearchParams({ connected: name }).toString();
  return { redirectTo: keepingReturn(`${publicUrl}/connections?${query}`, request) };
}

export async function disconnect(
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
    // A shared one is refused, and that is recorded, where connections are ended.
    if (error.code !== 'forbidden')
      await refusals.record(request, 'disconnecting what is not a connection of their own');
    return notYours(context, request);
  }
}

function notYours({ config }: PageContext, request: FastifyRequest): Page {
  const explanation = 'You have no such connection to change.';
  return notice(404, 'Nothing was changed', explanation, settingsUrl(config, request));
}

export function settingsUrl({ http }: PageContext['config'], request: FastifyRequest): string {
  return keepingReturn(`${http.publicUrl}/connections`, request);
}
