/**
 * `/auth/nango/callback`: where providers send browsers back to, on their way to Nango, once the environment at Nango has
 * this as its callback address. Nango itself takes whoever comes: here only a signed-in person goes on who has begun to
 * connect something, so that a provider's page that is forwarded to somebody else brings nobody's account to anybody.
 */
import type { FastifyInstance } from 'fastify';
import type { PageContext } from '../context.ts';
import { sendPage } from '../layout.ts';
import { notice } from '../outcome-pages.ts';
import { queryOf } from '../query.ts';

const nangoCallbackPath = '/auth/nango/callback';

const notBegunHere = notice(
  400,
  'This cannot be finished here',
  'Connecting was begun by somebody else, or too long ago. Nothing was connected; begin again where you came from.',
);

export function nangoCallback(
  fastify: FastifyInstance,
  { nango: attempts, config, sessions, refusals }: PageContext,
): void {
  fastify.get(nangoCallbackPath, async (request, reply) => {
    const session = sessions.read(request);
    const { nango } = config;
    const isBegun = session && (await attempts?.isUnderway({ tenant: session.tenant, actor: session.user }));
    if (!isBegun || !nango) {
      await refusals.record(request, 'a provider’s answer that nobody here has begun');
      return sendPage(reply, notBegunHere);
    }
    // A redirect of the browser: it may carry a cookie of Nango's, which is checked there.
    return reply.redirect(`${nango.publicUrl}/oauth/callback?${queryOf(request)}`, 303);
  });
}
