/** The query of a request, for answers of other servers, which are checked as they stand. */
import type { FastifyRequest } from 'fastify';

/** As it came. It may hold a `?` itself. */
export function queryOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
