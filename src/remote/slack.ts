/** A client of Slack's Web API for one token, and what its failures mean. It does not retry; the caller decides. */
import { LogLevel, WebAPIPlatformError, WebAPIRateLimitedError, WebClient } from '@slack/web-api';

export type { WebClient } from '@slack/web-api';

const timeoutMs = 10_000;

/** `apiUrl` ends in `/api/`. */
export function createSlackClient(apiUrl: string, token?: string): WebClient {
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    timeout: timeoutMs,
    // Its warnings contain what was sent.
    logLevel: LogLevel.ERROR,
    logger: silent,
  });
}

export type SlackTrouble =
  | { kind: 'rate-limited'; retryAfterMs: number }
  /** It is unknown whether the call was carried out. */
  | { kind: 'unavailable' }
  /** Permanent. `code`: Slack's, like `channel_not_found`. */
  | { kind: 'refused'; code: string };

export function troubleOf(error: unknown): SlackTrouble {
  if (error instanceof WebAPIRateLimitedError)
    return { kind: 'rate-limited', retryAfterMs: Math.min(Math.max(error.retryAfter, 1), mostWait) * 1000 };
  if (!(error instanceof WebAPIPlatformError)) return { kind: 'unavailable' };
  const code: unknown = error.data.error;
  // Anything that does not look like a code of Slack came from a proxy in between.
  const isWord = typeof code === 'string' && /^[a-z][a-z0-9_]{0,99}$/.test(code);
  return !isWord || passing.has(code) ? { kind: 'unavailable' } : { kind: 'refused', code };
}

/** In seconds. Slack's own limits last about a minute. */
const mostWait = 60 * 60;

/** Slack's codes for temporary trouble. */
const passing = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
  'rate_limited',
]);

/** Slack's codes for a dead token: the app was removed, or there is another token. */
export const deadTokenCodes: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
]);

/** Slack's codes for a client that it does not know, or whose secret is another one. */
export const refusedClientCodes: ReadonlySet<string> = new Set(['bad_client_secret', 'invalid_client_id']);

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};

interface SlackProfile {
  name: string;
  /** `guest`: with access to some channels only; `external`: of another organisation. */
  kind: 'member' | 'guest' | 'external' | 'bot' | 'gone';
  /** Admin or owner of the workspace. */
  isAdmin: boolean;
}

export async function profileOf(
  { client, team }: { client: WebClient; team: string },
  slackUser: string,
): Promise<SlackProfile> {
  try {
    const { user } = await client.users.info({ user: slackUser });
    if (!user) return unknown;
    const { profile, real_name: real, name = slackUser } = user;
    const isAdmin = user.is_admin === true || user.is_owner === true;
    const shown = profile?.display_name || real || name;
    const teams = user.enterprise_user?.teams ?? [user.team_id ?? ''];
    if (user.deleted === true) return { ...unknown, name: shown };
    if (user.is_bot === true || slackUser === 'USLACKBOT')
      return { name: shown, kind: 'bot', isAdmin: false };
    if (user.is_stranger === true || !teams.includes(team))
      return { name: shown, kind: 'external', isAdmin: false };
    if (user.is_restricted === true || user.is_ultra_restricted === true)
      return { name: shown, kind: 'guest', isAdmin: false };
    return { name: shown, kind: 'member', isAdmin };
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble.kind === 'refused' && unknownCodes.has(trouble.code)) return unknown;
    throw error;
  }
}

const unknown: SlackProfile = { name: 'somebody', kind: 'gone', isAdmin: false };
const unknownCodes = new Set(['user_not_found', 'user_not_visible']);
