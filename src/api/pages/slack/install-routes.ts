/**
 * `/slack/install`: an operator brings the app into a workspace of Slack. Whoever installs it decides whose people these
 * are: those of their own tenant. The state is good for once, in the browser that began, in the session that began.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { botScopes } from '../../../slack/scopes.ts';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { InstallOutcome } from '../../../service/slack/installs.ts';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import { foreignFormPage, notice, signInAgainPage } from '../outcome-pages.ts';
import { signedInAs } from '../signed-in.ts';
import type { SlackCookies } from './cookies.ts';
import { installedPage, installPage, notOperatorPage, slackAwayPage, toSlackPage } from './pages.ts';

const form = z.object({ csrf: z.string() });
const callbackQuery = z.object({
  state: z.string(),
  code: z.string().max(500).optional(),
  error: z.string().optional(),
});

export interface InstallParts {
  context: PageContext;
  slack: SlackService;
  /** Of the app, at Slack. */
  clientId: string;
  cookies: SlackCookies;
}

export function installRoutes(
  fastify: FastifyInstance,
  { context, slack, clientId, cookies }: InstallParts,
): void {
  const { config, sessions, refusals } = context;
  const { publicUrl } = config.http;
  const installUrl = `${publicUrl}/slack/install`;
  const redirectUri = `${publicUrl}/slack/oauth/callback`;
  const signInUrl = `${publicUrl}/auth/login?to=slack-install`;

  fastify.get('/slack/install', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.redirect(signInUrl, 303);
    const view = signedInAs(session, publicUrl);
    return sendPage(reply, session.isOperator ? installPage(view) : notOperatorPage(view));
  });

  fastify.post('/slack/install', async (request, reply) => {
    const session = sessions.read(request);
    const { data } = form.safeParse(request.body);
    if (!session) {
      await refusals.record(request, 'a form without a session');
      return sendPage(reply, signInAgainPage(signInUrl));
    }
    if (!data || !isFromOurPage(request, publicUrl, session, data.csrf)) {
      await refusals.record(request, 'form from another page');
      return sendPage(reply, foreignFormPage());
    }
    if (!session.isOperator) {
      await refusals.record(request, 'an installation in Slack by somebody who is no operator');
      return sendPage(reply, notOperatorPage(signedInAs(session, publicUrl)));
    }
    const state = await slack.installs.begin();
    cookies.keep(reply, 'install', { state, session: sessionHash(session) });
    const url = new URL('/oauth/v2/authorize', slack.settings.apiUrl);
    url.search = new URLSearchParams({
      client_id: clientId,
      scope: botScopes.join(','),
      redirect_uri: redirectUri,
      state,
    }).toString();
    return sendPage(reply, toSlackPage(url, 'There you choose the workspace.'));
  });

  fastify.get('/slack/oauth/callback', async (request, reply) => {
    const { data: query } = callbackQuery.safeParse(request.query);
    const kept = cookies.read(request, 'install');
    const session = sessions.read(request);
    cookies.drop(reply, 'install');
    const isOurs = kept && session && query?.state === kept.state && sessionHash(session) === kept.session;
    if (!isOurs || !session.isOperator) {
      await refusals.record(request, 'an installation in Slack that this browser did not begin');
      return sendPage(reply, pageOf({ kind: 'used-state' }, installUrl));
    }
    const { state, code } = query;
    if (code === undefined)
      return sendPage(
        reply,
        notice(403, 'Nothing was added', 'Slack says that you did not allow it.', installUrl),
      );
    const from = { state, code, redirectUri, address: request.ip };
    return sendPage(reply, pageOf(await slack.installs.complete(from, principalOf(session)), installUrl));
  });
}

function pageOf(outcome: InstallOutcome, again: string): Page {
  switch (outcome.kind) {
    case 'installed':
      return installedPage(outcome.teamName);
    case 'used-state':
      return notice(
        400,
        'This cannot be finished here',
        'It was begun in another browser, used already, or is too old. Begin again.',
        again,
      );
    case 'taken':
      return notice(
        409,
        'This workspace is taken',
        'Another organisation has added the agent to it already.',
      );
    case 'not-one-workspace':
      return notice(
        400,
        'Choose one workspace',
        'The agent is added to each workspace by itself, not to a whole organisation.',
        again,
      );
    case 'refused':
      return slackAwayPage(again);
    default:
      return outcome satisfies never;
  }
}
