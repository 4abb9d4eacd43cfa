/**
 * The pages of the Slack app. `/slack/link`: a person opens the link that the agent sent them in Slack, signs in, and confirms
 * that this is them. The ticket is removed from the address at once; reading the page does not use it up. With Sign in with Slack,
 * Slack confirms who they are, so a link is useless to others; without it, having the link is the proof.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { FoundLink } from '../../../service/slack/links.ts';
import { rawQueryOf } from '../context.ts';
import type { PageContext } from '../context.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { onForm, signedInAs } from '../guarded-form.ts';
import { leavingPage, notice } from '../outcome-pages.ts';
import { settingsUrl } from '../return-url.ts';
import { createSlackCookies, createSlackIdentity, reasonOf, slackFailed } from './slack-identity.ts';
import type { SlackCookies, SlackIdentity } from './slack-identity.ts';
import { wordsOf } from '../words.ts';
import { linkedPage, linkPage } from './pages.ts';
import { installRoutes } from './install-routes.ts';

const ticketQuery = z.object({ t: z.string().regex(/^[\w-]{20,100}$/) });
const callbackQuery = z.object({ state: z.string() });
const id = z.string().min(1).max(100);
const unlinkInput = z.object({ team: id, slackUser: id });

export function slackPages(fastify: FastifyInstance, context: PageContext, slack: SlackService): void {
  const { client, apiUrl } = slack.settings;
  const cookies = createSlackCookies(context);
  const { publicUrl } = context.config.http;
  const identity = client ? createSlackIdentity(client, apiUrl, `${publicUrl}/slack/link/callback`) : null;
  linkRoutes(fastify, { context, slack, cookies, identity });
  if (client) installRoutes(fastify, { context, slack, clientId: client.id, cookies });

  onForm(fastify, context, {
    path: '/connections/slack',
    input: unlinkInput,
    page: (request) => settingsUrl(publicUrl, request),
    async handle({ input: person, session, request }) {
      // Removes nothing if it was removed before or is somebody else's.
      await slack.links.remove(person, principalOf(session), request.ip);
      return { redirectTo: `${settingsUrl(publicUrl, request)}#slack` };
    },
  });
}

interface LinkParts {
  context: PageContext;
  slack: SlackService;
  cookies: SlackCookies;
  /** Null: the app has no OAuth client at Slack. */
  identity: SlackIdentity | null;
}

function linkRoutes(fastify: FastifyInstance, parts: LinkParts): void {
  const { context, slack, cookies, identity } = parts;
  const { config, sessions, refusals } = context;
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
    if (!found) return sendPage(reply, spentLink(request));
    const session = sessions.read(request);
    if (!session) return reply.redirect(signInUrl, 303);
    if (session.tenant !== found.tenant) return sendPage(reply, await refuseTenant(parts, request, found));
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

  onForm(fastify, context, {
    path: '/slack/link',
    input: z.object({}),
    page: () => linkUrl,
    async handle({ session, request, reply }) {
      const found = await findLink(parts, request);
      if (!found) return spentLink(request);
      if (session.tenant !== found.tenant) return refuseTenant(parts, request, found);
      if (!identity) return accept(parts, request, reply, { found, session });
      try {
        const { url, state, nonce } = await identity.begin(found.team);
        cookies.keep(reply, 'proof', { token: found.token, state, nonce, session: sessionHash(session) });
        const words = wordsOf(request);
        return leavingPage(words, 'Slack', url.href, words.slack.saysWhoYouAre);
      } catch (error) {
        return slackFailed(context, request, { reason: reasonOf(error), again: linkUrl });
      }
    },
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
      return sendPage(reply, spentLink(request));
    }
    const found = await slack.links.find(proof.token);
    if (!found) return sendPage(reply, spentLink(request));
    let proved: Awaited<ReturnType<SlackIdentity['complete']>>;
    try {
      proved = await identity.complete(rawQueryOf(request), proof);
    } catch (error) {
      const page = slackFailed(context, request, { reason: reasonOf(error), again: linkUrl });
      return sendPage(reply, page);
    }
    if (proved?.team !== found.team || proved.slackUser !== found.slackUser) {
      await refusals.record(request, 'a link of another Slack user', { tenant: found.tenant });
      return sendPage(reply, notice(wordsOf(request), 403, 'otherInSlack', linkUrl));
    }
    return sendPage(reply, await accept(parts, request, reply, { found, session }));
  });
}

async function findLink({ slack, cookies }: LinkParts, request: FastifyRequest): Promise<FoundLink | null> {
  const kept = cookies.read(request, 'link');
  return kept && slack.links.find(kept.token);
}

async function refuseTenant(
  { context }: LinkParts,
  request: FastifyRequest,
  { tenant, teamName }: FoundLink,
): Promise<Page> {
  await context.refusals.record(request, 'a link of a workspace of another tenant', { tenant });
  const words = wordsOf(request);
  return notice(words, 403, words.slack.foreignWorkspace(teamName));
}

function spentLink(request: FastifyRequest): Page {
  return notice(wordsOf(request), 410, 'slackLinkSpent');
}

async function accept(
  { slack, cookies }: LinkParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { found, session }: { found: FoundLink; session: Session },
): Promise<Page> {
  cookies.drop(reply, 'link');
  const isAccepted = await slack.links.accept(found, principalOf(session), request.ip);
  return isAccepted ? linkedPage(wordsOf(request), found.name, found.teamName) : spentLink(request);
}
