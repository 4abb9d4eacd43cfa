/** `/connections/approvals` (POST): withdraws what was approved in advance. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../../contract/ids.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { sendPage } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { principalOf } from '../login/session.ts';
import { notice, signInAgainPage } from '../outcome-pages.ts';
import { foreignForm } from './foreign-form.ts';
import { settingsUrl } from './change.ts';

const form = z.object({ approval: ElicitationIdSchema, csrf: z.string() });

export function approvalRoute(fastify: FastifyInstance, context: PageContext): void {
  const { config, approvals, sessions, refusals } = context;
  const { publicUrl } = config.http;

  fastify.post('/connections/approvals', async (request, reply) => {
    const back = settingsUrl(config, request);
    const input = form.safeParse(request.body);
    if (!input.success) {
      await refusals.record(request, 'an incomplete form');
      return sendPage(reply, notice(400, 'Nothing was changed', 'The form is incomplete.', back));
    }
    const session = sessions.read(request);
    if (!session) {
      await refusals.record(request, 'a form without a session');
      return sendPage(reply, signInAgainPage(loginUrl(publicUrl, null, request)));
    }
    if (!isFromOurPage(request, publicUrl, session, input.data.csrf)) {
      await refusals.record(request, 'form from another page');
      return sendPage(reply, foreignForm(back));
    }
    try {
      await approvals.withdraw(principalOf(session), input.data.approval, request.ip);
    } catch (error) {
      // Withdrawn twice is withdrawn.
      if (!(error instanceof ServiceError) || error.code !== 'approval_not_found') throw error;
    }
    return reply.redirect(`${back}#approvals`, 303);
  });
}
