/**
 * Which protocol era a server speaks, remembered per address, or per command, so that only the first contact pays for the
 * probe.
 * A legacy verdict would stay true-looking for ever (an upgraded server still answers the old handshake), so every
 * verdict expires.
 */
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';

const lifetimeMs = 10 * 60_000;
const verdicts = new Map<string, { prior: PriorDiscovery; until: number }>();

export function recallEra(server: ServerConfig): PriorDiscovery | undefined {
  const verdict = verdicts.get(keyOf(server));
  return verdict && verdict.until > Date.now() ? verdict.prior : undefined;
}

export function rememberEra(server: ServerConfig, prior: PriorDiscovery): void {
  verdicts.set(keyOf(server), { prior, until: Date.now() + lifetimeMs });
}

export function forgetEra(server: ServerConfig): void {
  verdicts.delete(keyOf(server));
}

/** All of them: a test's servers get ports that servers of another test had. */
export function forgetEras(): void {
  verdicts.clear();
}

function keyOf({ url, process }: ServerConfig): string {
  return process ? JSON.stringify([process.command, process.args, process.cwd]) : url;
}
