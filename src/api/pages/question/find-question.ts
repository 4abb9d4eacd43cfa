/** Which question a link names, and what the signed-in person may see of it. Reads only. */
import type { ServerConfig } from '../../../config/config.ts';
import { connectionKey } from '../../../credentials/connection-key.ts';
import type { Outcome } from '../../../elicitation/elicitation.ts';
import { whoAsks } from '../../../elicitation/asker.ts';
import type { ConnectionRow } from '../../../storage/ports/connections.ts';
import type { ElicitationRow } from '../../../storage/ports/elicitations.ts';
import type { ConnectDeps } from '../deps.ts';
import type { QuestionView } from './pages.ts';
import { displayName } from '../login/session.ts';
import type { Session } from '../login/session.ts';

export interface ConnectionQuestion {
  row: ElicitationRow;
  server: ServerConfig;
}

export type Found =
  /** No such question, or one that is not answered on this page. */
  | { kind: 'unknown' }
  | { kind: 'somebody-elses'; row: ElicitationRow }
  | { kind: 'open'; question: ConnectionQuestion }
  /** Open, but about an account that is not theirs to connect. */
  | { kind: 'shared'; question: ConnectionQuestion }
  /** Whether or not the turn has taken notice yet: the account is there. */
  | { kind: 'connected'; question: ConnectionQuestion; account: string | null; tooLate: boolean }
  | { kind: 'finished'; outcome: Exclude<Outcome, 'accept'> };

type Parts = Pick<ConnectDeps, 'config' | 'storage'>;

export async function findQuestion(
  { config, storage }: Parts,
  elicitationId: string,
  session: Session,
): Promise<Found> {
  const row = await storage.elicitations.get(elicitationId);
  const server = row?.server == null ? undefined : config.servers.get(row.server);
  if (!row || !server || row.request.mode !== 'url') return { kind: 'unknown' };
  if (row.tenant !== session.tenant || row.user !== session.user) return { kind: 'somebody-elses', row };

  const question = { row, server };
  const connection = await storage.connections.get(connectionKey(server, row));
  const isShared = server.credentialScope === 'project';
  const account = isShared ? null : (connection?.account ?? null);
  const connected = { kind: 'connected' as const, question, account };
  switch (row.status) {
    case 'accept':
      return { ...connected, tooLate: false };
    case 'pending':
      if (isNews(connection, row)) return { ...connected, tooLate: false };
      return row.deadline > Date.now()
        ? { kind: isShared ? 'shared' : 'open', question }
        : { kind: 'finished', outcome: 'expired' };
    case 'expired':
      // Who was at the provider when time ran out has an account now, and a turn that went on without it.
      if (isNews(connection, row)) return { ...connected, tooLate: true };
      return { kind: 'finished', outcome: row.status };
    case 'decline':
    case 'cancel':
      return { kind: 'finished', outcome: row.status };
    default:
      return row.status satisfies never;
  }
}

/** The same condition by which the workflow settles the question. */
function isNews(connection: ConnectionRow | null, row: ElicitationRow): boolean {
  return connection?.status === 'active' && connection.version > (row.seenVersion ?? 0);
}

export function viewOf(
  { row, server }: ConnectionQuestion,
  { http, agents }: ConnectDeps['config'],
  session: Session,
): QuestionView {
  const { context, message } = row.request;
  const titleOf = (agent: string) => agents.get(agent)?.title ?? agent;
  return {
    elicitationId: row.id,
    serverTitle: server.title,
    host: context.host ?? server.title,
    message,
    askedBy: whoAsks(context).map(titleOf),
    reason: context.reason ?? 'missing',
    scopes: context.scopes ?? [],
    warnings: context.warnings ?? [],
    deadline: new Date(row.deadline),
    minutesLeft: Math.floor((row.deadline - Date.now()) / 60_000),
    signedInAs: displayName(session),
    tenant: session.tenant,
    csrf: session.csrf,
    publicUrl: http.publicUrl,
    returnUrl: session.returnUrl,
  };
}
