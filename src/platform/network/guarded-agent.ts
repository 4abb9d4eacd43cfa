/**
 * Connects only to allowed addresses. A name is resolved once, all its addresses are checked, and the connection uses
 * exactly these: there is no second look-up that could return something else.
 *
 * Behind a proxy, the proxy resolves the name. It is checked here as far as this machine knows it, and a name that only a local
 * network can have is refused; the proxy has to refuse internal addresses itself (docs/decisions/0131).
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { buildConnector, EnvHttpProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { allowsAddress, bareHost, isLocalHost } from './addresses.ts';
import type { AllowsAddress, Reach } from './addresses.ts';
import { proxyFor } from '@interlude-ai/core/proxy.ts';

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
): Dispatcher {
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
  const agent = new EnvHttpProxyAgent({
    connect(options: buildConnector.Options, callback: buildConnector.Callback) {
      const host = bareHost(options.hostname);
      // IP literals are never looked up.
      if (isIP(host) !== 0 && !allows(host, reach)) return callback(new AddressRefused(host, host), null);
      return connect(options, callback);
    },
  });

  /** What is known of a host that the proxy will look up. */
  function checkForProxy(host: string, callback: (refused: AddressRefused | null) => void): void {
    if (isIP(host) !== 0) return callback(allows(host, reach) ? null : new AddressRefused(host, host));
    if (reach === 'public' && isLocalHost(host)) return callback(new AddressRefused(host, 'a local name'));
    resolve(host, { all: true }, (error, addresses) => {
      const refused = error ? undefined : addresses.find(({ address }) => !allows(address, reach));
      callback(refused ? new AddressRefused(host, refused.address) : null);
    });
  }

  return agent.compose((dispatch) => (options, handler) => {
    const origin = new URL(options.origin ?? '');
    if (!proxyFor(origin)) return dispatch(options, handler);
    checkForProxy(bareHost(origin.hostname), (refused) => {
      if (refused) handler.onResponseError?.(undefined as never, refused);
      else dispatch(options, handler);
    });
    return true;
  });
}
