/** Serves a browser bundle, like `/widget.js`, and the licences of what is in it. */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { licensesName, readBundle } from './bundle.ts';
import type { Bundle, BundleName } from './bundle.ts';

export function scriptRoute(fastify: FastifyInstance, name: BundleName): void {
  fileRoute(fastify, name, { path: `/${name}`, part: 'code', type: 'text/javascript' });
  fileRoute(fastify, name, { path: `/${licensesName(name)}`, part: 'licenses', type: 'text/plain' });
}

interface File {
  path: string;
  part: keyof Bundle;
  type: string;
}

function fileRoute(fastify: FastifyInstance, name: BundleName, { path, part, type }: File): void {
  fastify.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { [part]: text } = await readBundle(name);
    const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
    reply.headers({
      etag,
      'cache-control': 'public, max-age=300',
      'content-type': `${type}; charset=utf-8`,
      // Public.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text);
  });
}
