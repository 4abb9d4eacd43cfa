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
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { leavingPage, notice } from '../outcome-pages.ts';
import { slackFailed } from './slack-identity.ts';
import type { SlackCookies } from './slack-identity.ts';
import { wordsOf } from '../words.ts';
import type { PageWords } from '../words.ts';
import { installedPage, installPage, notOperatorPage } from './pages.ts';

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
      const words = wordsOf(request);
      return leavingPage(words, 'Slack', url.href, words.slack.chooseThere);
    },
  });

  fastify.get('/slack/oauth/callback', async (request, reply) => {
    const words = wordsOf(request);
    const { data: query } = callbackQuery.safeParse(request.query);
    const kept = cookies.read(request, 'install');
    const session = sessions.read(request);
    cookies.drop(reply, 'install');
    const isOurs = kept && session && query?.state === kept.state && sessionHash(session) === kept.session;
    if (!isOurs || !session.isOperator) {
      await refusals.record(request, 'an installation in Slack that this browser did not begin');
      return sendPage(reply, pageOf(words, { kind: 'used-state' }, installUrl));
    }
    const { state, code } = query;
    if (code === undefined) return sendPage(reply, notice(words, 403, 'installRefused', installUrl));
    const from = { state, code, redirectUri, address: request.ip };
    const outcome = await slack.installs.complete(from, principalOf(session));
    const page =
      outcome.kind === 'refused'
        ? slackFailed(context, request, { reason: outcome.code, again: installUrl })
        : pageOf(words, outcome, installUrl);
    return sendPage(reply, page);
  });
}

function pageOf(
  words: PageWords,
  outcome: Exclude<InstallOutcome, { kind: 'refused' }>,
  again: string,
): Page {
  switch (outcome.kind) {
    case 'installed':
      return installedPage(words, outcome.teamName);
    case 'used-state':
      return notice(words, 400, 'installElsewhere', again);
    case 'taken':
      return notice(words, 409, 'workspaceTaken');
    case 'not-one-workspace':
      return notice(words, 400, 'notOneWorkspace', again);
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
