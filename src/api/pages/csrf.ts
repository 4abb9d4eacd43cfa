/**
 * Whether a form really came from one of our pages, shown to this session: the browser says it came from our
 * origin, and the form carries the session's own token.
 */
import type { FastifyRequest } from 'fastify';
import { sameText } from '../../service/same-text.ts';
import type { Session } from './login/session.ts';

export function isFromOurPage(
  request: FastifyRequest,
  publicUrl: string,
  session: Session,
  csrf: string,
): boolean {
  return request.headers.origin === new URL(publicUrl).origin && sameText(csrf, session.csrf);
}
