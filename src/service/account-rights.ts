/**
 * Who may connect, replace and end an account: a user their own, an operator the shared ones of their tenant, and
 * whoever holds a permit for it. A program may do neither, for whomever it acts: its key is in the hands of what takes
 * messages.
 */
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { Storage } from '../storage/storage.ts';
import type { Principal } from './principal.ts';

export type MayChange = (principal: Principal, key: ConnectionKey) => Promise<boolean>;

export function createMayChange({ accountPermits }: Pick<Storage, 'accountPermits'>): MayChange {
  return async (principal, { tenant, server, user }) => {
    if (principal.kind === 'service' || principal.actor || principal.tenant !== tenant) return false;
    if (user !== null) return principal.user === user;
    return (
      principal.isOperator === true || (await accountPermits.holds({ tenant, server, user: principal.user }))
    );
  };
}
