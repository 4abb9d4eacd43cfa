/** So many requests in a minute, then 429 with `Retry-After`. */
import type { ServerResponse } from 'node:http';
import type { NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';

export function rateLimiter(state: NangoState): (response: ServerResponse) => void {
  let from = state.now();
  let used = 0;
  return (response) => {
    const { retryAfterSeconds } = state.settings;
    if (retryAfterSeconds !== null) throw tooMany(retryAfterSeconds);
    const { requestsPerMinute } = state.options;
    if (requestsPerMinute === null) return;
    if (state.now() - from >= 60_000) {
      from = state.now();
      used = 0;
    }
    used++;
    const rest = Math.ceil((from + 60_000 - state.now()) / 1000);
    response.setHeader('x-ratelimit-limit', requestsPerMinute);
    response.setHeader('x-ratelimit-remaining', Math.max(0, requestsPerMinute - used));
    response.setHeader('x-ratelimit-reset', Math.floor((from + 60_000) / 1000));
    if (used > requestsPerMinute) throw tooMany(rest);
  };
}

function tooMany(seconds: number): Refusal {
  return new Refusal(429, 'too_many_request', {}, { 'retry-after': String(seconds) });
}
