/**
 * `/slack/link`: somebody comes with the link that the agent gave them in Slack, signs in, and says that this is them.
 * The ticket leaves the address at once; reading the page uses nothing up. With Sign in with Slack, Slack says who sits
 * there, so that a link in other hands is worth nothing; without it, the link in their own hands is the proof.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { FoundLink } from '../../../service/slack/links.ts';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { sendPage } from '../layout.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { foreignFormPage, signInAgainPage } from '../outcome-pages.ts';
import { rawQueryOf } from '../query.ts';
import { signedInAs } from '../signed-in.ts';
import type { SlackCookies } from './cookies.ts';
import {
  foreignWorkspacePage,
  linkedPage,
  linkPage,
  otherPersonPage,
  slackAwayPage,
  spentLinkPage,
  toSlackPage,
} from './pages.ts';
import type { SlackIdentity } from './slack-identity.ts';

const ticketQuery = z.object({ t: z.string().regex(/^[\w-]{20,100}$/) });
const form = z.object({ csrf: z.string() });
const callbackQuery = z.object({ state: z.string() });

export interface LinkParts {
  context: PageContext;
  slack: SlackService;
  cookies: SlackCookies;
  /** Null: the app has no client at Slack. */
  identity: SlackIdentity | null;
}

export function linkRoutes(fastify: FastifyInstance, parts: LinkParts): void {
  const { context, slack, cookies, identity } = parts;
  const { config, sessions, refusals, logger } = context;
  const { publicUrl } = config.http;
  const linkUrl = `${publicUrl}/slack/link`;
  const signInUrl = `${publicUrl}/auth/login?to=slack-link`;

  fastify.get('/slack/link', async (request, reply) => {
    const { data: query } = ticketQuery.safeParse(request.query);
    if (query) {
      cookies.keep(reply, 'link', { token: query.t });
      return reply.redirect(linkUrl, 303);
    }
    const found = await findLink(parts, request);
    if (!found) return sendPage(reply, spentLinkPage());
    const session = sessions.read(request);
    if (!session) return reply.redirect(signInUrl, 303);
    if (session.tenant !== found.tenant) return refuseTenant(parts, request, reply, found);
    const { name, slackUser, teamName } = found;
    const view = {
      ...signedInAs(session, publicUrl),
      name,
      slackUser,
      teamName,
      isProved: identity !== null,
    };
    return sendPage(reply, linkPage(view));
  });

  fastify.post('/slack/link', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) {
      await refusals.record(request, 'a form without a session');
      return sendPage(reply, signInAgainPage(signInUrl));
    }
    const { data } = form.safeParse(request.body);
    if (!data || !isFromOurPage(request, publicUrl, session, data.csrf)) {
      await refusals.record(request, 'form from another page');
      return sendPage(reply, foreignFormPage());
    }
    const found = await findLink(parts, request);
    if (!found) return sendPage(reply, spentLinkPage());
    if (session.tenant !== found.tenant) return refuseTenant(parts, request, reply, found);
    if (!identity) return accept(parts, request, reply, { found, session });
    try {
      const { url, state, nonce } = await identity.begin(found.team);
      cookies.keep(reply, 'proof', { token: found.token, state, nonce, session: sessionHash(session) });
      return await sendPage(reply, toSlackPage(url, 'Slack says who you are there, and nothing else.'));
    } catch (error) {
      logger.warn({ reason: nameOf(error) }, 'Sign in with Slack cannot begin');
      return sendPage(reply, slackAwayPage(linkUrl));
    }
  });

  fastify.get('/slack/link/callback', async (request, reply) => {
    const proof = cookies.read(request, 'proof');
    const { data: query } = callbackQuery.safeParse(request.query);
    const session = sessions.read(request);
    cookies.drop(reply, 'proof');
    if (
      !identity ||
      !proof ||
      !session ||
      query?.state !== proof.state ||
      sessionHash(session) !== proof.session
    ) {
      await refusals.record(request, 'a sign-in with Slack that this browser did not begin');
      return sendPage(reply, spentLinkPage());
    }
    const found = await slack.links.find(proof.token);
    if (!found) return sendPage(reply, spentLinkPage());
    let proved: Awaited<ReturnType<SlackIdentity['complete']>>;
    try {
      proved = await identity.complete(rawQueryOf(request), proof);
    } catch (error) {
      logger.warn({ reason: nameOf(error) }, 'a sign-in with Slack failed');
      return sendPage(reply, slackAwayPage(linkUrl));
    }
    if (proved?.team !== found.team || proved.slackUser !== found.slackUser) {
      await refusals.record(request, 'a link of another Slack user', { tenant: found.tenant });
      return sendPage(reply, otherPersonPage(linkUrl));
    }
    return accept(parts, request, reply, { found, session });
  });
}

async function findLink({ slack, cookies }: LinkParts, request: FastifyRequest): Promise<FoundLink | null> {
  const kept = cookies.read(request, 'link');
  return kept && slack.links.find(kept.token);
}

async function refuseTenant(
  { context }: LinkParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { tenant, teamName }: FoundLink,
) {
  await context.refusals.record(request, 'a link of a workspace of another tenant', { tenant });
  return sendPage(reply, foreignWorkspacePage(teamName));
}

async function accept(
  { slack, cookies }: LinkParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { found, session }: { found: FoundLink; session: Session },
) {
  cookies.drop(reply, 'link');
  const isAccepted = await slack.links.accept(found, principalOf(session), request.ip);
  return sendPage(reply, isAccepted ? linkedPage(found.name, found.teamName) : spentLinkPage());
}

/** Of an error that may hold tokens. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
