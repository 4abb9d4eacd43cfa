/** `/connections/slack` (POST): somebody's name in Slack acts as them no longer. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { PageContext } from '../context.ts';
import { principalOf } from '../login/session.ts';
import { readSignedForm } from '../settings/signed-form.ts';

const id = z.string().min(1).max(100);
const form = z.object({ team: id, slackUser: id, csrf: z.string() });

export function unlinkRoute(fastify: FastifyInstance, context: PageContext, slack: SlackService): void {
  fastify.post('/connections/slack', async (request, reply) => {
    const read = await readSignedForm(context, form, request, reply);
    if (!read) return reply;
    const { csrf: _csrf, ...person } = read.input;
    // Ended twice is ended; somebody else's is none.
    await slack.links.remove(person, principalOf(read.session), request.ip);
    return reply.redirect(`${context.config.http.publicUrl}/connections#slack`, 303);
  });
}
