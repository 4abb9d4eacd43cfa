/** The pages of the Slack app: linking people, adding workspaces, and what is linked among the settings. */
import type { FastifyInstance } from 'fastify';
import type { SlackService } from '../../../service/slack/slack-service.ts';
import type { PageContext } from '../context.ts';
import { createSlackCookies } from './cookies.ts';
import { installRoutes } from './install-routes.ts';
import { linkRoutes } from './link-routes.ts';
import { createSlackIdentity } from './slack-identity.ts';
import { unlinkRoute } from './unlink-route.ts';

export function slackPages(fastify: FastifyInstance, context: PageContext, slack: SlackService): void {
  const { client, apiUrl } = slack.settings;
  const cookies = createSlackCookies(context);
  const { publicUrl } = context.config.http;
  const identity = client ? createSlackIdentity(client, apiUrl, `${publicUrl}/slack/link/callback`) : null;
  linkRoutes(fastify, { context, slack, cookies, identity });
  if (client) installRoutes(fastify, { context, slack, clientId: client.id, cookies });
  unlinkRoute(fastify, context, slack);
}
