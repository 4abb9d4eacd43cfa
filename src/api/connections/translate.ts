/** A caller's account at a server, as the API shows it: no account, one that works, or one that broke. */
import type { Connection } from '../../contract/connections.ts';
import type { OwnConnection } from '../../service/connections.ts';

export function toConnection({ server, serverTitle, host, scope, state }: OwnConnection): Connection {
  const { status } = state;
  const common = { server, serverTitle, host, scope, status };
  if (status === 'missing') return { ...common, account: null, scopes: [], connectedAt: null };
  const { account, scopes, createdAt } = state.row;
  return {
    ...common,
    ...(status === 'broken' && { reason: state.reason }),
    account,
    scopes,
    connectedAt: new Date(createdAt).toISOString(),
  };
}
