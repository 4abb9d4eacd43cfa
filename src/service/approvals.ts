/** Which tools the caller has said need no approval any more, and the end of that. Each person sees and ends their own. */
import type { Config } from '../config/config.ts';
import { agentOfOwnTool } from '../elicitation/approval.ts';
import type { RememberedApproval } from '../storage/ports/approvals.ts';
import type { Storage } from '../storage/storage.ts';
import { userOf } from './conversation-access.ts';
import { ServiceError } from './service-error.ts';
import { actorOf } from './principal.ts';
import type { Principal } from './principal.ts';

export type OwnApproval = Pick<RememberedApproval, 'id' | 'tool' | 'conversation' | 'createdAt'> & {
  /** Null for a tool of an agent's own. */
  server: string | null;
  /** Of the agent, where the tool is its own. */
  serverTitle: string;
  /** Where the server was when it was said: elsewhere it does not count. Null as `server`. */
  host: string | null;
};

export interface OwnApprovals {
  /** Newest first. A service approves nothing and has none. */
  list(principal: Principal): Promise<OwnApproval[]>;
  /** Audited. `address`: where it came from. */
  withdraw(principal: Principal, id: string, address: string): Promise<OwnApproval>;
}

interface Parts {
  config: Pick<Config, 'servers' | 'agents'>;
  storage: Pick<Storage, 'approvals' | 'audit'>;
}

export function createOwnApprovals({ config, storage }: Parts): OwnApprovals {
  function toOwn({ id, server, place, tool, conversation, createdAt }: RememberedApproval): OwnApproval {
    const about = { id, tool, conversation, createdAt };
    const agent = agentOfOwnTool({ server });
    if (agent !== null) {
      const serverTitle = config.agents.get(agent)?.title ?? agent;
      return { ...about, server: null, serverTitle, host: null };
    }
    const serverTitle = config.servers.get(server)?.title ?? server;
    return { ...about, server, serverTitle, host: place.split('#', 1)[0] ?? place };
  }

  return {
    async list(principal) {
      const user = userOf(principal);
      if (user === null) return [];
      return (await storage.approvals.list({ tenant: principal.tenant, user })).map(toOwn);
    },
    async withdraw(principal, id, address) {
      const { tenant } = principal;
      const user = userOf(principal);
      const withdrawn = user === null ? null : await storage.approvals.withdraw({ tenant, user }, id);
      if (!withdrawn)
        throw new ServiceError('approval_not_found', 'You have no such approval, or withdrew it already.');
      await storage.audit.record({
        at: Date.now(),
        tenant,
        elicitationId: id,
        actor: actorOf(principal),
        action: 'withdrawn',
        detail: `${withdrawn.server}: ${withdrawn.tool}`,
        address,
      });
      return toOwn(withdrawn);
    },
  };
}
