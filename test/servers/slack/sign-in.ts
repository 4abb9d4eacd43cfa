/** Slack's sign-in and app installation: the test says who the person is, and they agree to everything. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { sendJson } from '../serve.ts';
import type { Exchange } from '../serve.ts';
import { MethodRefused, text } from './methods.ts';
import type { Method } from './methods.ts';
import type { SlackServer } from './slack-server.ts';
import type { Workspace } from './slack-state.ts';

export interface SlackSignIn {
  clientId: string;
  clientSecret: string;
  /** For the settings of the service. */
  env: Record<string, string>;
  /** Who sits at the browser. */
  person: { team: string; user: string };
  /** Which workspace the app is added to next. */
  choose: Workspace | null;
}

/** Adds the addresses to the fake. */
export function addSignIn(slack: SlackServer): SlackSignIn {
  const signIn: SlackSignIn = {
    clientId: 'slack-client',
    clientSecret: 'slack-client-secret',
    env: { SLACK_CLIENT_ID: 'slack-client', SLACK_CLIENT_SECRET: 'slack-client-secret' },
    person: { team: '', user: '' },
    choose: null,
  };
  const codes = new Map<
    string,
    { nonce: string; person: SlackSignIn['person']; workspace: Workspace | null }
  >();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

  const authorize = ({ response, url: { searchParams } }: Exchange) => {
    const code = randomUUID();
    const { person, choose } = signIn;
    codes.set(code, { nonce: searchParams.get('nonce') ?? '', person: { ...person }, workspace: choose });
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString();
    response.writeHead(302, { location: back.href }).end();
  };
  slack.pages.set('/openid/connect/authorize', authorize);
  slack.pages.set('/oauth/v2/authorize', authorize);
  slack.pages.set('/.well-known/openid-configuration', ({ response }) =>
    sendJson(response, {
      issuer: slack.url,
      authorization_endpoint: `${slack.url}/openid/connect/authorize`,
      token_endpoint: `${slack.url}/api/openid.connect.token`,
      jwks_uri: `${slack.url}/openid/connect/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
  );

  /** Each code once. */
  function take(args: Record<string, unknown>) {
    const code = text(args, 'code');
    const taken = codes.get(code);
    const isClient =
      text(args, 'client_id') === signIn.clientId && text(args, 'client_secret') === signIn.clientSecret;
    if (!isClient) throw new MethodRefused('bad_client_secret');
    if (!taken) throw new MethodRefused('invalid_code');
    codes.delete(code);
    return taken;
  }

  function idToken({ nonce, person }: { nonce: string; person: SlackSignIn['person'] }): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: slack.url,
      sub: person.user,
      aud: signIn.clientId,
      exp: now + 300,
      iat: now,
      nonce,
      'https://slack.com/user_id': person.user,
      'https://slack.com/team_id': person.team,
    };
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  const methods: Record<string, Method> = {
    'openid.connect.token': ({ args }) => ({
      access_token: 'xoxp-nothing',
      token_type: 'Bearer',
      id_token: idToken(take(args)),
    }),
    'oauth.v2.access': ({ args }) => {
      const { workspace } = take(args);
      if (!workspace) throw new MethodRefused('invalid_code');
      const { id, name, botToken, botUser } = workspace;
      return {
        access_token: botToken,
        token_type: 'bot',
        scope: 'chat:write',
        bot_user_id: botUser,
        app_id: 'A1',
        team: { id, name },
        enterprise: null,
        is_enterprise_install: false,
      };
    },
  };
  for (const [name, method] of Object.entries(methods)) slack.methods.set(name, method);
  return signIn;
}
