/** Signing in and out. A sign-in leads back to where it began: a question or one of `otherGoals`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TurnParamsSchema } from '@interlude-ai/core/contract/operators.ts';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { PageContext } from '../context.ts';
import { otherGoals } from './session.ts';
import { createIdentityClient } from './identity-client.ts';
import { sendPage } from '../layout.ts';
import { rawQueryOf } from '../context.ts';
import { onForm } from '../guarded-form.ts';
import { notice, signedOutPage } from '../outcome-pages.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { wordsOf } from '../words.ts';
import type { SignIn } from './session.ts';

const as = z.literal('other').optional();
const loginQuery = z.union([
  z.object({ e: ElicitationIdSchema, as }).transform((query) => ({ ...query, to: undefined, turn: null })),
  z
    .object({ to: z.enum(otherGoals), turn: TurnParamsSchema.shape.turn.nullable().default(null), as })
    .transform((query) => ({ ...query, e: null })),
]);
const callbackQuery = z.object({ state: z.string(), error: z.string().optional() });
/** `e`: the question to come back to. */
const logoutInput = z
  .object({ e: ElicitationIdSchema.nullable().default(null) })
  .transform(({ e }) => ({ next: e }));

export function loginRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, logger, sessions, refusals } = context;
  const { publicUrl } = config.http;
  const identity = createIdentityClient(config.auth, `${publicUrl}/auth/login/callback`);

  fastify.get('/auth/login', async (request, reply) => {
    const query = loginQuery.safeParse(request.query);
    const words = wordsOf(request);
    if (!query.success) return sendPage(reply, notice(words, 404, 'unknown'));
    try {
      const { url, ...signIn } = await identity.begin(query.data.e, {
        asSomeoneElse: query.data.as === 'other',
      });
      const { to = 'connections', turn: turnId } = query.data;
      sessions.rememberSignIn(request, reply, { ...signIn, to, turnId, returnUrl: request.returnUrl });
      return await reply.redirect(url.href, 303);
    } catch (error) {
      logger.error(
        { issuer: config.auth.issuer, reason: reasonOf(error) },
        'sign-in cannot begin: the issuer does not answer',
      );
      const { e, to, turn } = query.data;
      const again = to === 'operators' ? operatorsLoginUrl(publicUrl, turn) : loginUrl(publicUrl, e, request);
      return sendPage(reply, notice(words, 503, 'signInAway', again));
    }
  });

  fastify.get('/auth/login/callback', async (request, reply) => {
    const words = wordsOf(request);
    const query = callbackQuery.safeParse(request.query);
    const signIn = query.success && sessions.takeSignIn(request, reply, query.data.state);
    if (!signIn) {
      logger.warn({ address: request.ip }, 'a sign-in came back to a browser that did not begin it');
      await refusals.record(request, 'a sign-in that this browser did not begin');
      return sendPage(reply, notice(words, 400, 'signInElsewhere'));
    }
    const { elicitationId, to, turnId } = signIn;
    const again =
      to === 'operators' ? operatorsLoginUrl(publicUrl, turnId) : loginUrl(publicUrl, elicitationId, signIn);
    if (query.data.error !== undefined) {
      return sendPage(reply, notice(words, 403, 'signInNotCompleted', again));
    }
    try {
      await sessions.start(request, reply, await identity.complete(rawQueryOf(request), signIn));
    } catch (error) {
      const reason = reasonOf(error);
      if (clientRefusals.has(reason))
        logger.error(
          { issuer: config.auth.issuer, reason },
          'a sign-in failed: the issuer refuses our client; check AUTH_CLIENT_ID and AUTH_CLIENT_SECRET',
        );
      else logger.warn({ issuer: config.auth.issuer, reason }, 'a sign-in failed');
      await refusals.record(request, 'a sign-in whose answer cannot be used');
      return sendPage(reply, notice(words, 502, 'signInFailed', again));
    }
    return reply.redirect(keepingReturn(goalUrl(publicUrl, signIn), signIn), 303);
  });

  const signedOut = ({ next }: z.infer<typeof logoutInput>, request: FastifyRequest) =>
    signedOutPage(wordsOf(request), loginUrl(publicUrl, next, request, { as: 'other' }), next !== null);
  onForm(fastify, context, {
    path: '/auth/logout',
    input: logoutInput,
    page: (request) => settingsUrl(publicUrl, request),
    signedOut,
    async handle({ input, request, reply }) {
      await sessions.end(request, reply);
      return signedOut(input, request);
    },
  });
}

/** `elicitationId`: the question to go to after signing in; null: the settings page. */
export function loginUrl(
  publicUrl: string,
  elicitationId: string | null,
  from: Pick<FastifyRequest, 'returnUrl'>,
  { as, to = 'connections' }: { as?: 'other'; to?: string } = {},
): string {
  const goal = elicitationId === null ? { to } : { e: elicitationId };
  const parameters = new URLSearchParams({ ...goal, ...(as && { as }) });
  return keepingReturn(`${publicUrl}/auth/login?${parameters.toString()}`, from);
}

/** `turnId`: the turn to show after signing in; null: all. */
export function operatorsLoginUrl(publicUrl: string, turnId: string | null): string {
  const turn = turnId === null ? '' : `&turn=${encodeURIComponent(turnId)}`;
  return `${publicUrl}/auth/login?to=operators${turn}`;
}

function goalUrl(
  publicUrl: string,
  { elicitationId, to, turnId }: Pick<SignIn, 'elicitationId' | 'to' | 'turnId'>,
): string {
  if (elicitationId !== null) return `${publicUrl}/auth/connect?e=${encodeURIComponent(elicitationId)}`;
  const turn = to === 'operators' && turnId !== null ? `/turns/${encodeURIComponent(turnId)}` : '';
  return `${publicUrl}${pathOf[to]}${turn}`;
}

export const pathOf = {
  connections: '/connections',
  waiting: '/connections/waiting',
  history: '/connections/history',
  playground: '/',
  'slack-link': '/slack/link',
  'slack-install': '/slack/install',
  operators: '/operators',
};

/** What issuers answer to a client that they do not know, or whose secret is another one. */
const clientRefusals = new Set(['invalid_client', 'unauthorized_client', 'OAUTH_WWW_AUTHENTICATE_CHALLENGE']);

/** For logs: the error itself may contain the issuer's response with tokens. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // An error code of OAuth.
  if ('error' in error && typeof error.error === 'string' && /^[a-z_]{1,40}$/.test(error.error))
    return error.error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
