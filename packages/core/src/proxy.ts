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
    const given = (env[name] ?? env[name.toUpperCase()])?.trim();
    return given ? [[name, given.includes('://') ? given : `http://${given}`] as const] : [];
  });
  const direct = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  if (proxies.length === 0 || direct.trim() === '*') return;
  for (const [name, url] of proxies)
    if (!URL.canParse(url))
      throw new Error(`${name.toUpperCase()}: write the address of a proxy, like http://proxy:3128`);
  Object.assign(env, Object.fromEntries(proxies), {
    no_proxy: [direct, ...thisMachine].filter(Boolean).join(','),
  });
  http.setGlobalProxyFromEnv(env as http.ProxyEnv);
}

/** The proxy for this address; undefined if it is reached directly. Only after `useProxy`. */
export function proxyFor(address: string | URL): URL | undefined {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:';
  const { https_proxy: secure, http_proxy: plain, no_proxy: direct } = process.env;
  const proxy = isSecure ? (secure ?? plain) : plain;
  if (proxy === undefined || direct === undefined || direct.trim() === '*') return undefined;
  const isDirect = direct.split(/[,\s]+/).some((entry) => {
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (host === '' || (only !== undefined && only !== (port || (isSecure ? '443' : '80')))) return false;
    return hostname === host || hostname.endsWith(`.${host}`);
  });
  return isDirect ? undefined : new URL(proxy);
}
