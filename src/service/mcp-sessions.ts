/** Sessions of MCP clients up to 2025-11-25, each owned by a principal. Any process serves a session's next request. */
import { randomUUID } from 'node:crypto';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { McpSessions } from '../storage/tables/sessions.ts';
import { actorOf, rateLimitKey } from './principal.ts';
import type { Principal } from './principal.ts';
import type { RecordRefusal } from './authenticate.ts';

export type { McpReply } from '../storage/schema/session-tables.ts';

export interface McpSession {
  id: string;
  version: string;
  shows: Capabilities;
}

interface OwnMcpSessions extends Omit<McpSessions, 'create' | 'find'> {
  open(principal: Principal, declared: Omit<McpSession, 'id'>): Promise<McpSession>;
  /**
   * Null when this principal has no such session. Session ids are not credentials: the use of another principal's session is
   * refused, and audited.
   */
  find(principal: Principal, id: string, address: string | null): Promise<McpSession | null>;
}

interface Parts {
  mcpSessions: McpSessions;
  recordRefusal: RecordRefusal;
}

/** After its last use. */
const lifeMs = 24 * 60 * 60 * 1000;

export function createOwnMcpSessions({ mcpSessions, recordRefusal }: Parts): OwnMcpSessions {
  return {
    ...mcpSessions,
    async open(principal, declared) {
      const session = { id: randomUUID(), ...declared };
      const owner = rateLimitKey(principal);
      await mcpSessions.create({ ...session, owner, expiresAt: Date.now() + lifeMs });
      return session;
    },
    async find(principal, id, address) {
      const session = await mcpSessions.find(id, Date.now() + lifeMs);
      if (!session || session.owner === rateLimitKey(principal)) return session;
      await recordRefusal({
        tenant: principal.tenant,
        elicitationId: '',
        actor: actorOf(principal),
        detail: 'MCP session of somebody else',
        address,
      });
      return null;
    },
  };
}
