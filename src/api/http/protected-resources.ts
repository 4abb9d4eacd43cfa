/**
 * OAuth protected resource metadata (RFC 9728): of the API as a whole, and of each surface whose clients discover everything from
 * its address.
 */
import type { FastifyInstance } from 'fastify';
import type { AuthConfig } from '../../platform/config/config.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Path of the surface, if it is a resource of its own. Its challenges then name its metadata. */
    resource?: string;
  }
}

/** Followed by the path of the resource. */
const wellKnown = '/.well-known/oauth-protected-resource';

export function metadataUrl(publicUrl: string, resource: string): string {
  return `${publicUrl}${wellKnown}${resource}`;
}

/** Audiences that a token for this resource may have (RFC 8707). */
export function audiencesOf(
  { publicUrl, audience }: { publicUrl: string; audience: string },
  resource = '',
): string[] {
  return [audience, publicUrl, ...(resource === '' ? [] : [publicUrl + resource])];
}

/** `paths`: the surfaces that are resources of their own. */
export function protectedResources(
  fastify: FastifyInstance,
  { publicUrl, auth, paths }: { publicUrl: string; auth: AuthConfig; paths: string[] },
): void {
  for (const path of ['', ...paths]) {
    const metadata = {
      resource: publicUrl + path,
      resource_name: 'Interlude',
      authorization_servers: [auth.issuer],
      bearer_methods_supported: ['header'],
      ...(auth.program && {
        // Our extension, for `interlude login`: its client at the issuer.
        interlude_client_id: auth.program.clientId,
        ...(auth.program.scope !== undefined && { interlude_scope: auth.program.scope }),
      }),
    };
    fastify.get(wellKnown + path, { schema: { hide: true } }, (_, reply) =>
      reply
        .headers({
          'cache-control': 'public, max-age=300',
          // Public, and some clients run in web pages.
          'access-control-allow-origin': '*',
        })
        .send(metadata),
    );
  }
}
