/**
 * The requests of the script for connecting by Nango: a session for Nango's window, whether the goal is reached, and to confirm the
 * window's result. Only for the signed-in person whose attempt it is; refusals are audited. And Nango's OAuth callback.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CredentialStoreError } from '../../../service/accounts.ts';
import { problemFor, sendProblem, ProblemError } from '../../http/problems.ts';
import { parseInput } from '../../http/validation.ts';
import { rawQueryOf } from '../context.ts';
import type { NangoConnecting, PageContext } from '../context.ts';
import { isFromOurPage } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { sendPage } from '../layout.ts';
import { notice } from '../outcome-pages.ts';
import { wordsOf } from '../words.ts';
import { findGoal, goalSchema } from './goal.ts';
import type { GoalState } from './goal.ts';

const id = z.string().regex(/^[\w.:-]{1,255}$/, 'this is no id');
const lookSchema = goalSchema.and(z.object({ attempt: id.optional() }));
const completeSchema = goalSchema.and(z.object({ attempt: id, connectionId: id }));

/** For the script. `lost`: the attempt is no longer valid. */
type AttemptState = { state: 'open' } | { state: 'lost' } | { state: 'over'; url: string };

export function nangoRoutes(fastify: FastifyInstance, context: PageContext, nango: NangoConnecting): void {
  const { logger, refusals } = context;

  fastify.setErrorHandler((error, request, reply) => {
    if (!(error instanceof CredentialStoreError)) return sendProblem(reply, problemFor(error, request));
    logger.warn({ reason: error.message }, 'a page could not ask Nango');
    const { trouble, retryAfterMs = 10_000 } = error;
    const headers = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
    return sendProblem(
      reply,
      new ProblemError('unavailable', wordsOf(request).account.trouble(trouble), { headers }),
    );
  });

  fastify.post('/auth/connect/nango', async (request) => {
    const session = await requireOurPage(context, request);
    const goal = parseInput(goalSchema, request.body);
    const open = await findGoal(context, goal, session, request);
    if (open.kind === 'over') return attemptState(open);
    const begun = await nango.lookBack(open.key, open.elicitationId, request.ip);
    const state = begun.length > 0 ? await findGoal(context, goal, session, request) : open;
    if (state.kind === 'over') return attemptState(state);
    const { kind: _, ...wanted } = state;
    const {
      id: attempt,
      expiresAt,
      pageUrl: __,
      ...window
    } = await nango.begin({ ...wanted, actor: session.user });
    return {
      state: 'open',
      attempt,
      ...window,
      // Relative, because browsers' clocks differ.
      expiresInMs: expiresAt - Date.now(),
      isUnderway: begun.some((one) => one.id === attempt),
    };
  });

  fastify.post('/auth/connect/nango/look', async (request) => {
    const session = await requireOurPage(context, request);
    const { attempt, ...goal } = parseInput(lookSchema, request.body);
    const state = await findGoal(context, goal, session, request);
    if (state.kind === 'over' || attempt === undefined) return attemptState(state);
    if (!(await isOwnAttempt(context, nango, attempt, session, request)))
      return { state: 'lost' } satisfies AttemptState;
    // If Nango cannot be asked now, the script will look again.
    await nango.look(attempt, request.ip).catch((error: unknown) => {
      if (!(error instanceof CredentialStoreError)) throw error;
    });
    return attemptState(await findGoal(context, goal, session, request));
  });

  fastify.post('/auth/connect/nango/complete', async (request) => {
    const session = await requireOurPage(context, request);
    const { attempt, connectionId, ...goal } = parseInput(completeSchema, request.body);
    if (!(await isOwnAttempt(context, nango, attempt, session, request)))
      return { state: 'lost' } satisfies AttemptState;
    const found = await nango.confirm(attempt, connectionId, request.ip);
    if (found.kind === 'not-of-this-attempt') {
      await refusals.record(request, 'a connection of another attempt', {
        ...('e' in goal && { elicitationId: goal.e }),
      });
      throw new ProblemError('forbidden', 'This connection did not come of connecting here.');
    }
    return found.kind === 'unknown-attempt'
      ? ({ state: 'lost' } satisfies AttemptState)
      : attemptState(await findGoal(context, goal, session, request));
  });
}

async function requireOurPage(
  { config, sessions, refusals }: PageContext,
  request: FastifyRequest,
): Promise<Session> {
  const session = sessions.read(request);
  if (!session) {
    await refusals.record(request, 'a request without a session');
    throw new ProblemError('unauthenticated', 'Sign in again.');
  }
  const token = request.headers['x-csrf-token'];
  if (isFromOurPage(request, config.http.publicUrl, session, String(token))) return session;
  await refusals.record(request, 'request from another page');
  throw new ProblemError('forbidden', 'This request did not come from our page.');
}

/** False if the attempt is unknown or over. */
async function isOwnAttempt(
  { refusals }: PageContext,
  nango: NangoConnecting,
  attemptId: string,
  { tenant, user }: Session,
  request: FastifyRequest,
): Promise<boolean> {
  const attempt = await nango.find(attemptId);
  if (!attempt) return false;
  if (attempt.tenant === tenant && attempt.actor === user) return true;
  const elicitationId = attempt.elicitationId ?? '';
  await refusals.record(request, 'an attempt of somebody else', { elicitationId, tenant: attempt.tenant });
  throw new ProblemError('forbidden', 'Only the person who began to connect can continue.');
}

function attemptState(state: GoalState): AttemptState {
  return state.kind === 'over' ? { state: 'over', url: state.url } : { state: 'open' };
}

/**
 * `/auth/nango/callback`, if it is configured at Nango as the callback URL: providers redirect browsers here, and we redirect them to
 * Nango. Nango would accept any browser; we require a signed-in person with an open attempt, so that a person who follows another
 * user's provider link cannot connect their account to that user.
 */
const nangoCallbackPath = '/auth/nango/callback';

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
      return sendPage(reply, notice(wordsOf(request), 400, 'otherPersonConnects'));
    }
    // A redirect, because Nango checks a cookie of the browser.
    return reply.redirect(`${nango.publicUrl}/oauth/callback?${rawQueryOf(request)}`, 303);
  });
}
