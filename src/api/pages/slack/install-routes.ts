/**
 * `/slack/install`: an operator installs the app in a Slack workspace, whose people then belong to the operator's tenant. The
 * OAuth state works once, in the browser and session that began.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { InstallOutcome } from '../../../service/slack/installs.ts';
import type { PageContext } from '../context.ts';
import { onForm, signedInAs } from '../guarded-form.ts';
import { principalOf, sessionHash } from '../login/session.ts';
import { html } from '../html.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { leavingPage, notice } from '../outcome-pages.ts';
import type { SlackCookies } from './slack-identity.ts';
import { installedPage, installPage, notOperatorPage, slackAwayPage } from './pages.ts';

const callbackQuery = z.object({
  state: z.string(),
  code: z.string().max(500).optional(),
  error: z.string().optional(),
});

interface InstallParts {
  context: PageContext;
  slack: SlackService;
  /** The app's client id at Slack. */
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

  onForm(fastify, context, {
    path: '/slack/install',
    input: z.object({}),
    page: () => installUrl,
    async handle({ session, request, reply }) {
      if (!session.isOperator) {
        await refusals.record(request, 'an installation in Slack by somebody who is no operator');
        return notOperatorPage(signedInAs(session, publicUrl));
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
      return leavingPage('Slack', url.href, html`There you choose the workspace.`);
    },
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

/** docs/slack.md says why; the manifest there has the same. */
export const botScopes = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'chat:write',
  'commands',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'users:read',
];
