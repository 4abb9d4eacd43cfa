/**
 * What of this service takes access tokens, as OAuth clients look it up (RFC 9728): the API as a whole, and each surface
 * whose protocol has clients find their way from its address alone.
 */
import type { FastifyInstance } from 'fastify';
import type { AuthConfig } from '../../config/config.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path of the surface, which is a resource of its own: its challenge names its metadata. */
    resource?: string;
  }
}

/** Where the metadata of each resource is, followed by the path of the resource. */
const wellKnown = '/.well-known/oauth-protected-resource';

export function metadataUrl(publicUrl: string, resource: string): string {
  return `${publicUrl}${wellKnown}${resource}`;
}

/** Whom a token for this resource may be for (RFC 8707): the API by its configured name or its address, or the surface. */
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
        // Ours, for `interlude login`: which client it is at the issuer.
        interlude_client_id: auth.program.clientId,
        ...(auth.program.scope !== undefined && { interlude_scope: auth.program.scope }),
      }),
    };
    fastify.get(wellKnown + path, { schema: { hide: true } }, (_, reply) =>
      reply
        .headers({
          'cache-control': 'public, max-age=300',
          // It is the same for everybody, and clients run in pages, too.
          'access-control-allow-origin': '*',
        })
        .send(metadata),
    );
  }
}
