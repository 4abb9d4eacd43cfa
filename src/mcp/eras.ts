/**
 * Which protocol era a server speaks, remembered per address so that only the first contact pays for the probe.
 * A legacy verdict would stay true-looking for ever (an upgraded server still answers the old handshake), so every
 * verdict expires.
 */
import type { PriorDiscovery } from '@modelcontextprotocol/client';

const lifetimeMs = 10 * 60_000;
const verdicts = new Map<string, { prior: PriorDiscovery; until: number }>();

export function recallEra(url: string): PriorDiscovery | undefined {
  const verdict = verdicts.get(url);
  return verdict && verdict.until > Date.now() ? verdict.prior : undefined;
}

export function rememberEra(url: string, prior: PriorDiscovery): void {
  verdicts.set(url, { prior, until: Date.now() + lifetimeMs });
}

export function forgetEra(url: string): void {
  verdicts.delete(url);
}
