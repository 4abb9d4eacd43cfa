/** Secrets that others have to accept: each is used for one harmless request. Unclear answers are no findings. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createIdentityClient } from '../../api/pages/login/identity-client.ts';
import { createNangoClient } from '../../credentials/nango/client.ts';
import { NangoError } from '../../credentials/nango/failure.ts';
import { refusesClient } from '../../credentials/oauth/tokens.ts';
import { openKeys } from '../../credentials/sealing/key-file.ts';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import { slackTokenContext } from '../../credentials/sealing/sealed-values.ts';
import type { AuthConfig, Config } from '../../platform/config/config.ts';
import { createSlackClient, deadTokenCodes, refusedClientCodes, troubleOf } from '../../remote/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import { ok, problem } from './findings.ts';
import type { Code, Finding } from './findings.ts';

/** Redeems a code that the issuer never gave. */
export async function checkLoginClient(auth: AuthConfig, publicUrl: string): Promise<Finding> {
  const client = createIdentityClient(auth, `${publicUrl}/auth/login/callback`);
  const answer = await client.redeemUnknownCode().catch(() => null);
  if (!answer) return ok('its token endpoint cannot be asked whether it accepts our client');
  const { status, code } = answer;
  const shown = [`HTTP ${status}`, code !== null && /^[a-z_]{1,40}$/.test(code) && code].filter(Boolean);
  if (refusesClient(answer))
    return problem('issuer-client', `${auth.issuer} refuses our client (${shown.join(', ')})`);
  return code === 'invalid_grant'
    ? ok('it accepts our client')
    : ok(`it does not say whether it accepts our client (${shown.join(', ')})`);
}

/** The API limits requests, and people read one line for each. */
const mostWorkspaces = 100;

export async function checkSlack(
  config: Pick<Config, 'slack' | 'keys' | 'dataDir'>,
  storage: Storage | null,
): Promise<Finding[]> {
  const { slack } = config;
  if (!slack) return [];
  const { apiUrl, bot, client } = slack;
  const ofToken = (token: string) => createSlackClient(apiUrl, token).auth.test();
  // The token of the environment replaces the one that was stored for it.
  const stored = storage ? await storedTokens(config, storage, { ofEnvironment: !bot }) : [];
  const found = await Promise.all([
    bot ? slackFindings('slack-bot-token', 'SLACK_BOT_TOKEN', ofToken(bot.token)) : [],
    client
      ? slackFindings(
          'slack-client',
          'SLACK_CLIENT_ID with SLACK_CLIENT_SECRET',
          createSlackClient(apiUrl).oauth.v2.access({
            client_id: client.id,
            client_secret: client.secret,
            code: randomUUID(),
          }),
        )
      : [],
    ...stored.map(({ name, token }) =>
      slackFindings('slack-workspace', `the token of ${name}`, ofToken(token)),
    ),
  ]);
  // One finding for everything that Slack does not answer.
  return [...new Map(found.flat().map((finding) => [finding.text, finding])).values()];
}

const refusals = new Set([...deadTokenCodes, ...refusedClientCodes]);

async function slackFindings(code: Code, what: string, asked: Promise<unknown>): Promise<Finding[]> {
  const trouble = await asked.then(() => null, troubleOf);
  if (trouble !== null && trouble.kind !== 'refused')
    return [problem('slack-away', 'it does not answer, or limits requests: not all is checked')];
  // The code that was never issued.
  if (trouble === null || trouble.code === 'invalid_code') return [ok(`accepts ${what}`)];
  return refusals.has(trouble.code) ? [problem(code, `it refuses ${what} (${trouble.code})`)] : [];
}

async function storedTokens(
  config: Pick<Config, 'keys' | 'dataDir'>,
  storage: Storage,
  { ofEnvironment }: { ofEnvironment: boolean },
): Promise<{ name: string; token: string }[]> {
  const keys = await openKeys(config, { areThere: true });
  const installations = await storage.slack.installations.list();
  return installations
    .filter(({ installedBy }) => ofEnvironment || installedBy !== null)
    .slice(0, mostWorkspaces)
    .flatMap(({ team, teamName, sealed }) => {
      try {
        return { name: teamName, token: keys.open(sealed, slackTokenContext(team)) };
      } catch (error) {
        // The check of the keys names them.
        if (error instanceof SealingError) return [];
        throw error;
      }
    });
}

export async function checkNango({ nango, servers }: Pick<Config, 'nango' | 'servers'>): Promise<Finding[]> {
  const integration = [...servers.values()].find(({ store }) => store === 'nango')?.nango?.integration;
  if (!nango || integration === undefined) return [];
  const client = createNangoClient({ nango, logger: pino({ level: 'silent' }), timeoutMs: 5_000 });
  try {
    // None has this tag.
    await client.list(integration, { interlude_doctor: randomUUID() });
    return [ok(`${nango.host} accepts NANGO_API_KEY`)];
  } catch (error) {
    if (!(error instanceof NangoError)) throw error;
    const { failure } = error;
    if (failure.kind === 'away' || failure.kind === 'busy')
      return [problem('nango-away', `${nango.host} does not answer, or limits requests`)];
    return failure.kind === 'misconfigured' && failure.status === 401
      ? [problem('nango-key', `${nango.host} refuses NANGO_API_KEY`)]
      : [];
  }
}
