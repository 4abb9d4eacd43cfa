/**
 * Sessions of MCP clients up to 2025-11-25, each its principal's own: what a client declared once, for whoever serves its
 * next request, at any process.
 */
import { randomUUID } from 'node:crypto';
import type { Capabilities } from '../elicitation/capabilities.ts';
import type { McpSessions } from '../storage/ports/mcp-sessions.ts';
import { actorOf, rateLimitKey } from './principal.ts';
import type { Principal } from './principal.ts';
import type { RecordRefusal } from './record-refusal.ts';

export type { McpReply } from '../storage/ports/mcp-sessions.ts';

export interface McpSession {
  id: string;
  version: string;
  shows: Capabilities;
}

export interface OwnMcpSessions extends Omit<McpSessions, 'create' | 'find'> {
  open(principal: Principal, declared: Omit<McpSession, 'id'>): Promise<McpSession>;
  /**
   * Null when there is none of this principal. Its id is no credential: another principal's is refused, and audited.
   * `address`: where the request came from.
   */
  find(principal: Principal, id: string, address: string | null): Promise<McpSession | null>;
}

interface Parts {
  mcpSessions: McpSessions;
  recordRefusal: RecordRefusal;
}

/** Since it was last used. */
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
