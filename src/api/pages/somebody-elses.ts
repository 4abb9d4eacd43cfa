/** The page for somebody who is signed in and was not asked. */
import type { FastifyRequest } from 'fastify';
import type { PageContext } from './context.ts';
import type { Page } from './layout.ts';
import { loginUrl } from './login/routes.ts';
import { displayName } from './login/session.ts';
import type { Session } from './login/session.ts';
import { refusedPage, unknownPage } from './outcome-pages.ts';

/** Also puts the refusal on record. Outside its tenant a question does not exist. */
export async function somebodyElsesPage(
  { config, refusals }: PageContext,
  { elicitationId, tenant }: { elicitationId: string; tenant: string },
  session: Session,
  request: FastifyRequest,
): Promise<Page> {
  const isSameTenant = tenant === session.tenant;
  await refusals.record(request, isSameTenant ? 'another user' : 'another tenant', { elicitationId, tenant });
  if (!isSameTenant) return unknownPage();
  return refusedPage(displayName(session), loginUrl(config.http.publicUrl, elicitationId, request, 'other'));
}
