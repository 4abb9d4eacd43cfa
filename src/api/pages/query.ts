/** The raw query of a request, for OAuth callbacks: they are validated and passed on exactly as they arrived. */
import type { FastifyRequest } from 'fastify';

/** Without the first `?`; any later one is part of the query. */
export function rawQueryOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
