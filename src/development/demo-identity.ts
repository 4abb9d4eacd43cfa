/** The demo's identity provider: for one machine and nothing else. It makes everybody who asks alice or bob. */
import type { AuthConfig, Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { demoProgramClient } from './demo-token.ts';
import { isLoopbackHost } from '../elicitation/url-safety.ts';

/** Throws a `ConfigError` when anything of the configuration is meant for more than this machine. */
export async function startDemoIdentity(config: Config, stack: AsyncDisposableStack): Promise<AuthConfig> {
  const others = meantForOthers(config);
  if (others.length > 0)
    throw new ConfigError([
      `AUTH_ISSUER: needed beside ${others.join(', ')}; without it the demo's sign-in would make anybody alice or bob. Name your OpenID provider (and AUTH_CLIENT_ID), or leave those settings out for the demo`,
    ]);
  const { demoAudience, demoLoginClient, startIdentityProvider } = await import('../../demo/identity.ts');
  const provider = await startIdentityProvider({
    port: config.demo.identityPort,
    dataDir: `${config.dataDir}/identity`,
    redirectUris: [`${config.http.publicUrl}/auth/login/callback`],
  });
  stack.defer(() => provider.stop());
  const client = { id: demoLoginClient, secret: undefined };
  const program = { clientId: demoProgramClient, scope: undefined };
  // Bob looks after the demo.
  const operator = { claim: 'sub', role: 'bob', contentsRole: 'bob' };
  return {
    issuer: provider.issuer,
    audience: demoAudience,
    tenantClaim: 'tenant',
    operator,
    client,
    program,
  };
}

function meantForOthers({ http, database, temporal }: Config): string[] {
  return [
    ...(isLoopbackHost(http.host) ? [] : [`HOST=${http.host}`]),
    ...(isLoopbackHost(new URL(http.publicUrl).hostname) ? [] : [`PUBLIC_URL=${http.publicUrl}`]),
    ...(database.kind === 'postgres' ? ['a PostgreSQL database (DATABASE_URL)'] : []),
    ...(temporal.address === undefined ? [] : ['a Temporal of your own (TEMPORAL_ADDRESS)']),
  ];
}
