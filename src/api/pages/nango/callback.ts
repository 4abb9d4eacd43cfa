/**
 * `/auth/nango/callback`: where providers redirect browsers to, on their way to Nango, once the environment at Nango has this
 * as its callback address. Nango itself accepts any browser. Here only a signed-in person with an open attempt to connect an
 * account passes, so that whoever is sent somebody else's provider link cannot connect their own account to that user.
 */
import type { FastifyInstance } from 'fastify';
import type { PageContext } from '../context.ts';
import { sendPage } from '../layout.ts';
import { notice } from '../outcome-pages.ts';
import { rawQueryOf } from '../query.ts';

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
    // The browser is redirected, rather than the request forwarded: Nango checks a cookie that only the browser has.
    return reply.redirect(`${nango.publicUrl}/oauth/callback?${rawQueryOf(request)}`, 303);
  });
}
