/** A form of the settings page, as the person who is signed in has sent it. Anything else is recorded and answered here. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { sendPage } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import type { Session } from '../login/session.ts';
import { notice, signInAgainPage } from '../outcome-pages.ts';
import { settingsUrl } from './change.ts';

/** Null: it was answered. */
export async function readSignedForm<Input extends { csrf: string }>(
  { config, sessions, refusals }: Pick<PageContext, 'config' | 'sessions' | 'refusals'>,
  form: z.ZodType<Input>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ input: Input; session: Session } | null> {
  const { publicUrl } = config.http;
  const back = settingsUrl(config, request);
  const input = form.safeParse(request.body);
  if (!input.success) {
    await refusals.record(request, 'an incomplete form');
    sendPage(reply, notice(400, 'Nothing was changed', 'The form is incomplete.', back));
    return null;
  }
  const session = sessions.read(request);
  if (!session) {
    await refusals.record(request, 'a form without a session');
    sendPage(reply, signInAgainPage(loginUrl(publicUrl, null, request)));
    return null;
  }
  if (!isFromOurPage(request, publicUrl, session, input.data.csrf)) {
    await refusals.record(request, 'form from another page');
    const explanation = 'This form did not come from our page. Open your connections and decide there.';
    sendPage(reply, notice(403, 'Nothing was changed', explanation, back));
    return null;
  }
  return { input: input.data, session };
}
