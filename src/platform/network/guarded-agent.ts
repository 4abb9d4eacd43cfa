/**
 * Connects only to allowed addresses. A name is resolved once, all its addresses are checked, and the connection uses
 * exactly these: there is no second look-up that could return something else.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { allowsAddress, bareHost } from './addresses.ts';
import type { AllowsAddress, Reach } from './addresses.ts';

export class AddressRefused extends Error {
  override name = 'AddressRefused';
  constructor(host: string, address: string) {
    super(host === address ? `${address} is not allowed` : `${host} is ${address}, which is not allowed`);
  }
}

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

interface Options {
  resolve?: Resolve | undefined;
  allows?: AllowsAddress | undefined;
}

export function createGuardedAgent(
  reach: Reach,
  { resolve = systemLookup, allows = allowsAddress }: Options = {},
): Agent {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const [first] = addresses;
      const refused = addresses.find(({ address }) => !allows(address, reach));
      if (refused) return callback(new AddressRefused(hostname, refused.address), []);
      return options.all || !first ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: 10_000, lookup });
  return new Agent({
    connect(options, callback) {
      const host = bareHost(options.hostname);
      // IP literals are never looked up.
      if (isIP(host) !== 0 && !allows(host, reach)) return callback(new AddressRefused(host, host), null);
      return connect(options, callback);
    },
  });
}
