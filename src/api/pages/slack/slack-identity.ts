/** Sign in with Slack, which proves who the person is in which workspace, and the sealed cookies for the ways to Slack and back. */
import * as openid from 'openid-client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SlackConfig } from '../../../platform/config/config.ts';
import { createIssuerMetadata } from '../login/identity-client.ts';
import { refusedClientCodes } from '../../../remote/slack.ts';
import type { Page } from '../layout.ts';
import { sealedCookies } from '../login/session.ts';
import { notice } from '../outcome-pages.ts';
import type { PageContext } from '../context.ts';
import { wordsOf } from '../words.ts';

export interface SlackIdentity {
  begin(team: string): Promise<{ url: URL; state: string; nonce: string }>;
  /** `query`: from Slack's redirect. Null: the token has no team or user. */
  complete(
    query: string,
    expected: { state: string; nonce: string },
  ): Promise<{ team: string; slackUser: string } | null>;
}

export function createSlackIdentity(
  { id, secret }: NonNullable<SlackConfig['client']>,
  apiUrl: string,
  redirectUri: string,
): SlackIdentity {
  const issuer = new URL(new URL(apiUrl).origin);
  const metadata = createIssuerMetadata(issuer, id, openid.ClientSecretPost(secret));

  return {
    async begin(team) {
      const state = openid.randomState();
      const nonce = openid.randomNonce();
      const url = openid.buildAuthorizationUrl(await metadata(), {
        redirect_uri: redirectUri,
        scope: 'openid',
        state,
        nonce,
        team,
      });
      return { url, state, nonce };
    },
    async complete(query, { state, nonce }) {
      const tokens = await openid.authorizationCodeGrant(
        await metadata(),
        new URL(`${redirectUri}?${query}`),
        { expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      );
      const claims = tokens.claims();
      const team = claims?.['https://slack.com/team_id'];
      const slackUser = claims?.['https://slack.com/user_id'];
      return typeof team === 'string' && typeof slackUser === 'string' ? { team, slackUser } : null;
    },
  };
}

/** Slack's answers have the code of their error in the body, with status 200. */
const refusal = z.object({ body: z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) }) });

/** For logs: the error itself may contain tokens. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { data } = refusal.safeParse(error.cause instanceof Error ? error.cause.cause : undefined);
  if (data) return data.body.error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Slack did not accept what we sent, or did not answer. `reason`: its code, if there is one. */
export function slackFailed(
  { logger }: Pick<PageContext, 'logger'>,
  request: FastifyRequest,
  { reason, again }: { reason: string; again: string },
): Page {
  const isOurs = refusedClientCodes.has(reason);
  if (isOurs)
    logger.error(
      { reason },
      'Slack refuses our client: check SLACK_CLIENT_ID and SLACK_CLIENT_SECRET, and restart the APIs',
    );
  else logger.warn({ reason }, 'Slack did not answer as it should');
  return notice(wordsOf(request), 502, isOurs ? 'slackRefusesClient' : 'slackAway', again);
}

/** `link`: the ticket. `proof`: a sign-in at Slack. `install`: an installation under way. */
const schemas = {
  link: z.object({ token: z.string() }),
  proof: z.object({ token: z.string(), state: z.string(), nonce: z.string(), session: z.string() }),
  install: z.object({ state: z.string(), session: z.string() }),
};
type Kept = { [Name in keyof typeof schemas]: z.infer<(typeof schemas)[Name]> };

export interface SlackCookies {
  keep<Name extends keyof Kept>(reply: FastifyReply, name: Name, value: Kept[Name]): void;
  read<Name extends keyof Kept>(request: FastifyRequest, name: Name): Kept[Name] | null;
  drop(reply: FastifyReply, name: keyof Kept): void;
}

const lifeMs = 30 * 60 * 1000;

export function createSlackCookies({ sealedText, config }: PageContext): SlackCookies {
  const cookies = sealedCookies(sealedText, config.http.publicUrl);
  const cookieOf = (name: keyof Kept) => `${cookies.prefix}-slack-${name}`;
  return {
    keep(reply, name, value) {
      cookies.write(reply, cookieOf(name), { value, expiresAt: Date.now() + lifeMs }, lifeMs);
    },
    read<Name extends keyof Kept>(request: FastifyRequest, name: Name) {
      const envelope = z.object({ value: z.unknown(), expiresAt: z.number() });
      const kept = cookies.read(request, cookieOf(name), envelope);
      return kept ? (schemas[name].parse(kept.value) as Kept[Name]) : null;
    },
    drop: (reply, name) => cookies.clear(reply, cookieOf(name)),
  };
}
