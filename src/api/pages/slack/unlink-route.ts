/** `/connections/slack` (POST): somebody's name in Slack acts as them no longer. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { SlackApp } from '../../../service/slack/app.ts';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { sendPage } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { principalOf } from '../login/session.ts';
import { foreignFormPage, notice, signInAgainPage } from '../outcome-pages.ts';

const id = z.string().min(1).max(100);
const form = z.object({ team: id, slackUser: id, csrf: z.string() });

export function unlinkRoute(fastify: FastifyInstance, context: PageContext, slack: SlackApp): void {
  const { config, sessions, refusals } = context;
  const { publicUrl } = config.http;

  fastify.post('/connections/slack', async (request, reply) => {
    const back = `${publicUrl}/connections`;
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
    const { csrf, ...person } = input.data;
    if (!isFromOurPage(request, publicUrl, session, csrf)) {
      await refusals.record(request, 'form from another page');
      return sendPage(reply, foreignFormPage());
    }
    // Ended twice is ended; somebody else's is none.
    await slack.links.remove(person, principalOf(session), request.ip);
    return reply.redirect(`${back}#slack`, 303);
  });
}
