/** Which network addresses requests may go to, which host names are local, and which names a server of ours may have. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `public`: only addresses of the internet. `local`: also those of this machine and its network. */
export type Reach = 'public' | 'local';

export type AllowsAddress = (address: string, reach: Reach) => boolean;

const localRanges = new Set([
  'unicast',
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
  'unspecified',
]);
/** All IPv6 addresses that are assigned on the internet today; `unicast` also includes unassigned ones. */
const globalIPv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** An IPv4 address as hosts behind NAT64 see it (RFC 6052). */
const translated = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number];
/** Addresses outside the link-local ranges at which clouds give a machine's credentials to every program on it. */
const metadataServices = new Set(['100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']);

/** Never allows link-local addresses and other metadata services of clouds. */
export const allowsAddress: AllowsAddress = (address, reach) => {
  if (!ipaddr.isValid(address)) return false;
  // ::ffff:127.0.0.1 is 127.0.0.1.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.match(translated)) {
    return allowsAddress(parsed.toByteArray().slice(12).join('.'), reach);
  }
  if (metadataServices.has(parsed.toString())) return false;
  if (reach === 'local') return localRanges.has(parsed.range());
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalIPv6));
};

/** Top-level names that no public name server answers for (RFC 6761, 6762, 8375; ICANN for `internal`; Kubernetes). */
const ownNetwork = /(^|\.)(localhost|local|internal|intranet|private|corp|home|lan|home\.arpa|svc)$/;

/**
 * Decided by the name, never by what it resolves to: the owner of a public name can point it anywhere. Names without a dot
 * are local.
 */
export function isLocalHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return !allowsAddress(host, 'public');
  return !host.includes('.') || ownNetwork.test(host);
}

/** The host of a URL without the brackets of IPv6 and without a final dot. */
export function bareHost(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
}

/**
 * Protects a server of ours against DNS rebinding: an attacker's page can point its own name to our address, and then counts
 * as one of ours for the browser, but it cannot change the name in `Host`. IP literals cannot be rebound, so they are
 * allowed; so are requests without `Host`, which come from no browser. `names`: allowed besides `localhost`.
 */
export function isKnownHost(header: string | undefined, names: readonly string[] = []): boolean {
  if (header === undefined) return true;
  if (!URL.canParse(`http://${header}`)) return false;
  const host = bareHost(new URL(`http://${header}`).hostname);
  return isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost') || names.includes(host);
}

/** For operators. */
export const unknownHostWords =
  'This server does not answer under this name; address it as PUBLIC_URL says, or add the name to ALLOWED_HOSTS.';
