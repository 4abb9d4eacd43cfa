/** What the routes of the pages check alike: where a form came from, and who may see a question. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { PageContext } from './context.ts';
import { sendPage } from './layout.ts';
import type { Page } from './layout.ts';
import { loginUrl } from './login/routes.ts';
import { displayName, isFromOurPage } from './login/session.ts';
import type { Session } from './login/session.ts';
import {
  foreignFormPage,
  incompleteFormPage,
  refusedPage,
  signInAgainPage,
  unknownPage,
} from './outcome-pages.ts';

/** A form with nothing but a button. A missing token is treated like a wrong one. */
export const buttonForm = z.object({ csrf: z.string() }).catch({ csrf: '' });

/**
 * Reads a form that the signed-in person sent from a page of ours. Null: it was anything else, which has been audited and
 * answered. `e` is the question that the form is about. `settingsUrl`: the form was on the settings page.
 */
export async function readForm<Input extends { csrf: string; e?: string }>(
  { config, sessions, refusals }: PageContext,
  form: z.ZodType<Input>,
  request: FastifyRequest,
  reply: FastifyReply,
  { signInUrl, settingsUrl }: { signInUrl?: string; settingsUrl?: string } = {},
): Promise<{ input: Input; session: Session } | null> {
  const { publicUrl } = config.http;
  const parsed = form.safeParse(request.body);
  if (!parsed.success) {
    await refusals.record(request, 'an incomplete form');
    sendPage(reply, incompleteFormPage(settingsUrl));
    return null;
  }
  const { data: input } = parsed;
  const { e: elicitationId } = input;
  const about = elicitationId === undefined ? {} : { elicitationId };
  const session = sessions.read(request);
  if (!session) {
    await refusals.record(request, 'a form without a session', about);
    sendPage(reply, signInAgainPage(signInUrl ?? loginUrl(publicUrl, elicitationId ?? null, request)));
    return null;
  }
  if (!isFromOurPage(request, publicUrl, session, input.csrf)) {
    await refusals.record(request, 'form from another page', about);
    sendPage(reply, foreignFormPage(settingsUrl));
    return null;
  }
  return { input, session };
}

/** For a person who was not asked; audited. Outside its tenant a question does not exist. */
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
