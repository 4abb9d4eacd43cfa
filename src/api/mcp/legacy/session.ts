/** A session up to 2025-11-25: what its client declared once, for whoever serves its next request, at any process. */
import { randomUUID } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Principal } from '../../../service/principal.ts';
import { actorOf, rateLimitKey } from '../../../service/principal.ts';
import type { Service } from '../../../service/service.ts';
import type { McpSession } from '../../../service/service.ts';
import { shownBy } from '../modern/caller.ts';

export const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export function isVersion(text: string | string[]): boolean {
  return versions.some((version) => version === text);
}

const lifeMs = 24 * 60 * 60 * 1000;

const InitializeSchema = z.looseObject({ protocolVersion: z.string(), capabilities: z.unknown() });

type SessionService = Pick<Service, 'mcpSessions' | 'recordRefusal'>;

/** Null when the parameters are none of `initialize`. */
export async function openSession(
  { mcpSessions }: SessionService,
  principal: Principal,
  params: unknown,
): Promise<McpSession | null> {
  const { data } = InitializeSchema.safeParse(params);
  if (!data) return null;
  const session = {
    id: randomUUID(),
    owner: rateLimitKey(principal),
    version: isVersion(data.protocolVersion) ? data.protocolVersion : versions[0],
    shows: shownBy({ [CLIENT_CAPABILITIES_META_KEY]: data.capabilities }),
    expiresAt: Date.now() + lifeMs,
  };
  await mcpSessions.create(session);
  return session;
}

/** Null when there is none of this principal. A session's id is no credential: another principal's is refused. */
export async function findSession(
  { mcpSessions, recordRefusal }: SessionService,
  { principal, address }: { principal: Principal; address: string | null },
  id: string,
): Promise<McpSession | null> {
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
}
