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
    return { kind: 'rate-limited', retryAfterMs: Math.min(Math.max(error.retryAfter, 1), mostWait) * 1000 };
  if (!(error instanceof WebAPIPlatformError)) return { kind: 'unavailable' };
  const code: unknown = error.data.error;
  // What is none of Slack's words was said by something in between, like a proxy with a page of its own.
  const isWord = typeof code === 'string' && /^[a-z][a-z0-9_]{0,99}$/.test(code);
  return !isWord || passing.has(code) ? { kind: 'unavailable' } : { kind: 'refused', code };
}

/** In seconds. Slack's limits are of a minute or so; whatever it says, it is asked again after that. */
const mostWait = 60 * 60;

/** Slack's words for trouble of its own. */
const passing = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
  'rate_limited',
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
