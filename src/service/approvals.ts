/** Tools for which the caller has given approval in advance. Each person sees and withdraws their own. */
import type { Config } from '../platform/config/config.ts';
import { agentOfOwnTool } from '@interlude-ai/core/elicitation/approval.ts';
import type { RememberedApproval } from '../storage/tables/approvals.ts';
import type { Storage } from '../storage/storage.ts';
import { userOf, actorOf } from './principal.ts';
import { ServiceError } from './service-error.ts';
import type { Principal } from './principal.ts';

export type OwnApproval = Pick<RememberedApproval, 'id' | 'tool' | 'conversation' | 'createdAt'> & {
  /** Null for an agent's own tool. */
  server: string | null;
  /** The agent's title for an agent's own tool. */
  serverTitle: string;
  /** The server's host when it was approved: the approval does not count elsewhere. Null for an agent's own tool. */
  host: string | null;
};

interface Parts {
  config: Pick<Config, 'servers' | 'agents'>;
  storage: Storage;
}

export function createOwnApprovals({ config, storage }: Parts) {
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
    /** Newest first. Empty for a service, which approves nothing. */
    async list(principal: Principal): Promise<OwnApproval[]> {
      const user = userOf(principal);
      if (user === null) return [];
      return (await storage.approvals.list({ tenant: principal.tenant, user })).map(toOwn);
    },
    /** Audited. */
    async withdraw(principal: Principal, id: string, address: string): Promise<OwnApproval> {
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
