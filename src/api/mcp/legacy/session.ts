/** What `initialize` of the revisions up to 2025-11-25 agrees on: a session of one of their versions. */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpSession } from '../../../service/mcp-sessions.ts';
import type { Principal } from '../../../service/principal.ts';
import type { Service } from '../../../service/service.ts';
import { shownBy } from '../modern/caller.ts';

export const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export function isVersion(text: string | string[]): boolean {
  return versions.some((version) => version === text);
}

const InitializeSchema = z.looseObject({ protocolVersion: z.string(), capabilities: z.unknown() });

/** Null when the parameters are none of `initialize`. */
export async function openSession(
  { mcpSessions }: Pick<Service, 'mcpSessions'>,
  principal: Principal,
  params: unknown,
): Promise<McpSession | null> {
  const { data } = InitializeSchema.safeParse(params);
  if (!data) return null;
  return mcpSessions.open(principal, {
    version: isVersion(data.protocolVersion) ? data.protocolVersion : versions[0],
    shows: shownBy({ [CLIENT_CAPABILITIES_META_KEY]: data.capabilities }),
  });
}
