/** The API process's one part: the HTTP server, listening. */
import type { Client } from '@temporalio/client';
import { createApp } from '../api/http/app.ts';
import type { AppParts } from '../api/http/app.ts';
import type { AuthConfig, Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { createService } from '../service/service.ts';
import { startReconciler } from '../reconciler/reconciler.ts';
import { isLocalHost } from '../network/addresses.ts';
import type { Parts } from './parts.ts';

/** What the API says at /readyz that it lacks; nothing, when it is ready. */
export type Lacks = () => Promise<string[]>;

export async function serveApi(
  parts: Parts & Pick<AppParts, 'playground'>,
  client: Client,
  stack: AsyncDisposableStack,
): Promise<Lacks> {
  const config = requireAuth(parts.config);
  const { port, host } = config.http;
  const app = createApp({ ...parts, config, service: createService({ ...parts, client }) });
  stack.defer(() => app.close());
  const lostTurns = startReconciler(parts, client);
  stack.defer(() => lostTurns.stop());
  try {
    await app.listen({ port, host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new ConfigError([
      `PORT: ${port} is taken by another program; choose a free one, for example PORT=${port + 1}`,
    ]);
  }
  const warning = publicUrlWarning(config.http.publicUrl);
  if (warning !== null) parts.logger.warn(warning);
  return async () => {
    const { notReady = [] } = (await app.inject('/readyz')).json<{ notReady?: { detail: string }[] }>();
    return notReady.map(({ detail }) => detail);
  };
}

/** Outside the demo nobody is signed in by accident: an API without an issuer does not start. */
export function requireAuth(config: Config): Config & { auth: AuthConfig } {
  const { auth } = config;
  if (auth) return { ...config, auth };
  throw new ConfigError([
    'AUTH_ISSUER, AUTH_CLIENT_ID: needed by the API; only `npm start` brings a demo issuer along',
  ]);
}

/** What is wrong with reaching the service by this address, if anything: in one's own network, http is one's own choice. */
export function publicUrlWarning(publicUrl: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'http:' || isLocalHost(hostname)) return null;
  return 'PUBLIC_URL is http on a public host: tokens, sign-ins and answers can be read and changed on their way; put a proxy with TLS in front and write https';
}
