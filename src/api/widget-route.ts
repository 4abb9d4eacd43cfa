/** `/widget.js`: the script that other people's pages load. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { readBundle } from '../browser/bundle.ts';
import type { BundleName } from '../browser/bundle.ts';

export function scriptRoute(fastify: FastifyInstance, path: string, name: BundleName): void {
  fastify.get(path, { schema: { hide: true } }, async (request, reply) => {
    const code = await readBundle(name);
    const etag = `"${createHash('sha256').update(code).digest('base64url').slice(0, 22)}"`;
    reply.headers({
      etag,
      'cache-control': 'public, max-age=300',
      'content-type': 'text/javascript; charset=utf-8',
      // It is the same for everybody, whatever page asks.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(code);
  });
}
