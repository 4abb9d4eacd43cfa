/** Which question about an account an id names, and how it stands for the person who asks. Reads only. */
import type { Config, ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Outcome } from '../elicitation/elicitation.ts';
import type { ConnectionRow } from '../storage/ports/connections.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';

export interface ConnectionQuestion {
  row: ElicitationRow;
  server: ServerConfig;
}

export type FoundQuestion =
  /** No such question, or none about an account. */
  | { kind: 'unknown' }
  | { kind: 'somebody-elses'; row: ElicitationRow }
  | { kind: 'open'; question: ConnectionQuestion }
  /** Open, but about an account that is not theirs to connect. */
  | { kind: 'shared'; question: ConnectionQuestion }
  /** The account is there. */
  | { kind: 'connected'; question: ConnectionQuestion; account: string | null; tooLate: boolean }
  | { kind: 'finished'; outcome: Exclude<Outcome, 'accept'> };

interface Parts {
  config: Pick<Config, 'servers'>;
  storage: Pick<Storage, 'elicitations' | 'connections' | 'now'>;
}

export async function findConnectionQuestion(
  { config, storage }: Parts,
  elicitationId: string,
  person: { tenant: string; user: string },
): Promise<FoundQuestion> {
  const row = await storage.elicitations.get(elicitationId);
  const server = row?.server == null ? undefined : config.servers.get(row.server);
  if (!row || !server || row.request.mode !== 'url') return { kind: 'unknown' };
  if (row.tenant !== person.tenant || row.user !== person.user) return { kind: 'somebody-elses', row };

  const question = { row, server };
  const connection = await storage.connections.get(connectionKey(server, row));
  const isShared = server.credentialScope === 'project';
  const account = isShared ? null : (connection?.account ?? null);
  const connected = { kind: 'connected' as const, question, account };
  switch (row.status) {
    case 'accept':
      return { ...connected, tooLate: false };
    case 'pending':
      if (answersQuestion(connection, row)) return { ...connected, tooLate: false };
      return row.deadline > storage.now()
        ? { kind: isShared ? 'shared' : 'open', question }
        : { kind: 'finished', outcome: 'expired' };
    case 'expired':
      // Connected just after the deadline: the turn has gone on without the account.
      if (answersQuestion(connection, row)) return { ...connected, tooLate: true };
      return { kind: 'finished', outcome: row.status };
    case 'decline':
    case 'cancel':
      return { kind: 'finished', outcome: row.status };
    default:
      return row.status satisfies never;
  }
}

/** Whether this connection is what the question waits for. */
function answersQuestion(connection: ConnectionRow | null, row: ElicitationRow): connection is ConnectionRow {
  return connection?.status === 'active' && connection.version > (row.seenVersion ?? 0);
}
