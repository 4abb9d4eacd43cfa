/** What `interlude doctor` makes of the answers to secrets: issuers as they differ, Slack and Nango. */
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkLoginClient, checkNango, checkSlack } from '../../../src/cli/doctor/check-secrets.ts';
import type { Finding } from '../../../src/cli/doctor/findings.ts';
import { parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { slackTokenContext } from '../../../src/credentials/sealing/sealed-values.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { issuerDocument } from '../../credentials/guarded-server.ts';
import { startNangoDouble } from '../../servers/nango/nango-double.ts';
import { sendJson, serve } from '../../servers/serve.ts';
import { addSignIn } from '../../servers/slack/sign-in.ts';
import { MethodHttp } from '../../servers/slack/methods.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import { testFolder } from '../../test-folder.ts';

const codesOf = (findings: Finding[]) => findings.map((one) => (one.level === 'ok' ? one.text : one.code));

const unclear = (answer: string) => `it does not say whether it accepts our client (${answer})`;
const basic = { 'www-authenticate': 'Basic realm="issuer"' };

test.each<[string, number, string | null, Record<string, string>, string]>([
  ['the code is unknown', 400, 'invalid_grant', {}, 'it accepts our client'],
  ['the client is wrong', 401, 'invalid_client', basic, 'issuer-client'],
  ['the client is wrong, without a challenge', 401, 'invalid_client', {}, 'issuer-client'],
  ['Keycloak, a wrong secret', 401, 'unauthorized_client', {}, 'issuer-client'],
  ['Auth0, a wrong secret', 401, 'access_denied', {}, 'issuer-client'],
  ['Gitea, an unknown code', 400, 'unauthorized_client', {}, unclear('HTTP 400, unauthorized_client')],
  ['a proxy before it', 401, null, basic, unclear('HTTP 401')],
  ['an outage', 503, null, {}, 'its token endpoint cannot be asked whether it accepts our client'],
])('an issuer answers: %s', async (_, status, error, headers, expected) => {
  const asked: [string | undefined, URLSearchParams][] = [];
  const { origin, stop } = await serve(({ url, body, request, response }) => {
    if (url.pathname !== '/token')
      return sendJson(response, issuerDocument(origin, { jwks_uri: `${origin}/jwks` }));
    asked.push([request.headers.authorization, new URLSearchParams(body)]);
    return sendJson(response, error === null ? {} : { error }, status, headers);
  });
  onTestFinished(stop);
  const env = { AUTH_ISSUER: origin, AUTH_CLIENT_ID: 'interlude', AUTH_CLIENT_SECRET: 'topsecret' };
  const { auth } = configOf(env);
  if (!auth) throw new Error('there is no issuer');
  const finding = await checkLoginClient(auth, 'https://interlude.example');
  expect(codesOf([finding])).toEqual([expected]);
  expect(JSON.stringify(finding)).not.toContain('topsecret');
  expect(asked).toHaveLength(1);
  const [[credentials, form] = []] = asked;
  expect(credentials).toBe(`Basic ${Buffer.from('interlude:topsecret').toString('base64')}`);
  expect(form?.get('grant_type')).toBe('authorization_code');
  expect(form?.get('redirect_uri')).toBe('https://interlude.example/auth/login/callback');
});

const keys = `k1:${randomBytes(32).toString('base64')}`;
const agents = path.resolve(import.meta.dirname, '../../../demo/agents.yaml');
const configOf = (env: Record<string, string>) =>
  loadConfig({ INTERLUDE_CONFIG: agents, INTERLUDE_KEYS: keys, ...env }, testFolder());

test('Slack is asked about each token and about the client', async () => {
  await using slack = await startSlackServer();
  const signIn = addSignIn(slack);
  const [acme, globex] = [slack.addWorkspace('T1', 'Acme'), slack.addWorkspace('T2', 'Globex')];
  const storage = await openStorage({ kind: 'sqlite', path: path.join(testFolder(), 'interlude.db') });
  onTestFinished(() => storage.close());
  for (const { id, name, botToken } of [acme, globex])
    await storage.slack.installations.put({
      team: id,
      teamName: name,
      tenant: id,
      botUser: 'UB',
      scopes: '',
      installedBy: id === 'T1' ? null : 'ada',
      sealed: parseKeys(keys).seal(botToken, slackTokenContext(id)),
    });
  const env = { ...slack.env, ...signIn.env, SLACK_BOT_TOKEN: acme.botToken };
  const look = async (changes: Record<string, string> = {}) =>
    codesOf(await checkSlack(configOf({ ...env, ...changes }), storage));
  const ofClient = 'accepts SLACK_CLIENT_ID with SLACK_CLIENT_SECRET';
  expect(await look()).toEqual(['accepts SLACK_BOT_TOKEN', ofClient, 'accepts the token of Globex']);
  expect(await look({ SLACK_BOT_TOKEN: 'xoxb-old', SLACK_CLIENT_SECRET: 'old' })).toEqual([
    'slack-bot-token',
    'slack-client',
    'accepts the token of Globex',
  ]);
  // As after a change of the token: what is stored for the environment is out of date.
  acme.botToken = 'xoxb-new';
  globex.botToken = 'xoxb-newer';
  expect(await look({ SLACK_BOT_TOKEN: 'xoxb-new' })).toEqual([
    'accepts SLACK_BOT_TOKEN',
    ofClient,
    'slack-workspace',
  ]);
  slack.methods.set('auth.test', () => new MethodHttp(429, { 'retry-after': '30' }));
  expect(await look()).toEqual(['slack-away', ofClient]);
  expect(codesOf(await checkSlack(configOf({}), storage))).toEqual([]);
});

test('Nango is asked about its key where a server keeps accounts there', async () => {
  const nango = await startNangoDouble();
  const { servers } = configOf({});
  const [[name, server] = []] = servers;
  if (name === undefined || !server) throw new Error('there is no server');
  const atNango = new Map([
    [name, { ...server, store: 'nango' as const, nango: { integration: nango.integration } }],
  ]);
  const look = async (apiKey: string) => {
    const config = configOf({ NANGO_HOST: nango.host, NANGO_API_KEY: apiKey });
    return codesOf(await checkNango({ ...config, servers: atNango }));
  };
  expect(await look(nango.apiKey)).toEqual([`${nango.host} accepts NANGO_API_KEY`]);
  expect(await look(randomUUID())).toEqual(['nango-key']);
  expect(await look(nango.keyFor('environment:connections:read'))).toEqual([]);
  await nango.stop();
  expect(await look(nango.apiKey)).toEqual(['nango-away']);
  expect(await checkNango(configOf({ NANGO_HOST: nango.host, NANGO_API_KEY: nango.apiKey }))).toEqual([]);
});
