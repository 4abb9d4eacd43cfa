/**
 * Whether a form really came from one of our pages, shown to this session: the browser says it came from our
 * origin, and the form carries the session's own token.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Session } from './session.ts';

export function isFromOurPage(
  request: FastifyRequest,
  publicUrl: string,
  session: Session,
  csrf: string,
): boolean {
  return request.headers.origin === new URL(publicUrl).origin && sameText(csrf, session.csrf);
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
