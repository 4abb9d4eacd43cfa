/** Which network addresses a request may go to, and which host names are of one's own network. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `public`: addresses of the internet only. `local`: those of one's own machine and network as well. */
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
/** All that is given to anybody on the internet today; `unicast` is also what nobody has named. */
const globalIPv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];
/** An IPv4 address as hosts behind NAT64 see it (RFC 6052). */
const translated = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number];
/** Where clouds give the credentials of a machine to whoever asks on it, outside the link-local ranges. */
const metadataServices = new Set(['100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']);

/** Link-local addresses, and with them the metadata services of clouds, are allowed to nobody. */
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
 * Told by how it is written, never by what it resolves to: whoever owns a public name may let it point anywhere.
 * A name without a dot is of one's own network, too.
 */
export function isLocalHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return !allowsAddress(host, 'public');
  return !host.includes('.') || ownNetwork.test(host);
}

/** As in a URL, without the brackets of IPv6 and the dot that ends a name. */
export function bareHost(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
}
