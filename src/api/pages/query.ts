import type { FastifyRequest } from 'fastify';

/** The query as it came, for answers of other servers, which are checked as they stand. It may hold a `?` itself. */
export function queryOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
