/** Sign in with Slack: proves which Slack user of which workspace sits at the browser, and nothing else. */
import * as openid from 'openid-client';
import type { SlackConfig } from '../../../config/config.ts';
import { createIssuerMetadata } from '../issuer-metadata.ts';

export interface SlackIdentity {
  begin(team: string): Promise<{ url: URL; state: string; nonce: string }>;
  /** `query` is what Slack sent the browser back with. Null: Slack says nothing of use. */
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
