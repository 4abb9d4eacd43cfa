/**
 * The proxy that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name, for all outgoing connections except those to PostgreSQL. Temporal
 * is reached through it only with TLS.
 */
import http from 'node:http';

/** Servers of this machine, like the identity provider of the demo, are reached directly. */
const thisMachine = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Uses the proxy of the environment for `fetch` and for the requests of libraries. The variables are rewritten, because
 * libraries disagree about spellings. undici's `EnvHttpProxyAgent` reads them, too: create it later.
 */
export function useProxy(env: NodeJS.ProcessEnv = process.env): void {
  const proxies = ['http_proxy', 'https_proxy'].flatMap((name) => {
    const given = read(env, name)?.trim();
    return given ? [[name, given.includes('://') ? given : `http://${given}`] as const] : [];
  });
  if (proxies.length === 0) return;
  for (const [name, url] of proxies)
    if (!URL.canParse(url) || /\s/.test(url))
      throw new Error(`${name.toUpperCase()}: write the address of a proxy, like http://proxy:3128`);
  const direct = (read(env, 'no_proxy') ?? '').split(/[,\s]+/).filter(Boolean);
  Object.assign(env, Object.fromEntries(proxies), {
    no_proxy: direct.includes('*') ? '*' : [...new Set([...direct, ...thisMachine])].join(','),
  });
  // The published programs also run with a Node that does not have it; there, only requests of undici use the proxy.
  if ('setGlobalProxyFromEnv' in http) http.setGlobalProxyFromEnv(env as http.ProxyEnv);
}

/** The proxy for this address; undefined if it is reached directly. Decides as `EnvHttpProxyAgent` does, whose requests it guards. */
export function proxyFor(address: string | URL): URL | undefined {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:';
  const proxy = (isSecure && read(process.env, 'https_proxy')) || read(process.env, 'http_proxy');
  const direct = read(process.env, 'no_proxy') ?? '';
  if (!proxy || direct === '*') return undefined;
  const isDirect = direct.split(/[,\s]+/).some((entry) => {
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (host === '' || (only !== undefined && only !== (port || (isSecure ? '443' : '80')))) return false;
    return hostname === host || hostname.endsWith(`.${host}`);
  });
  return isDirect ? undefined : new URL(proxy);
}

function read(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] ?? env[name.toUpperCase()];
}
