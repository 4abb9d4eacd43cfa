/**
 * A client of Slack's Web API, one for each token, and what its failures mean. It tries once: whoever calls knows what
 * may be sent again, and waits as long as Slack says.
 */
import { LogLevel, WebAPIPlatformError, WebAPIRateLimitedError, WebClient } from '@slack/web-api';

export type { WebClient } from '@slack/web-api';

/** Slack answers within a second or two; what takes longer is sent again. */
const timeoutMs = 10_000;

/** `apiUrl` ends in `/api/`. Without a token only methods can be called that need none. */
export function createSlackClient(apiUrl: string, token?: string): WebClient {
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    timeout: timeoutMs,
    // Its warnings hold what was sent.
    logLevel: LogLevel.ERROR,
    logger: silent,
  });
}

export type SlackTrouble =
  | { kind: 'rate-limited'; retryAfterMs: number }
  /** Nobody knows whether the call was carried out. */
  | { kind: 'unavailable' }
  /** `code`: Slack's word for it, like `channel_not_found`. Trying again changes nothing. */
  | { kind: 'refused'; code: string };

export function troubleOf(error: unknown): SlackTrouble {
  if (error instanceof WebAPIRateLimitedError)
    return { kind: 'rate-limited', retryAfterMs: error.retryAfter * 1000 };
  if (!(error instanceof WebAPIPlatformError)) return { kind: 'unavailable' };
  const { error: code } = error.data;
  return passing.has(code) ? { kind: 'unavailable' } : { kind: 'refused', code };
}

/** Slack's words for trouble of its own. */
const passing = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
]);

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
