import type { Environment } from './environment-schema.ts';

/** What one user, one tenant or one address may ask for. Absent: any amount. See docs/limits.md. */
export function limitsFrom(values: Environment) {
  return {
    requestsPerMinute: {
      perUser: values.RATE_LIMIT_PER_MINUTE,
      perTenant: values.RATE_LIMIT_PER_MINUTE_PER_TENANT,
    },
    /** Requests under way, including streams. */
    openRequests: {
      perUser: values.OPEN_REQUESTS_PER_USER,
      perTenant: values.OPEN_REQUESTS_PER_TENANT,
      perAddress: values.OPEN_REQUESTS_PER_ADDRESS,
    },
    liveTurns: { perUser: values.LIVE_TURNS_PER_USER, perTenant: values.LIVE_TURNS_PER_TENANT },
    tokensPerDay: { perUser: values.TOKENS_PER_DAY_PER_USER, perTenant: values.TOKENS_PER_DAY_PER_TENANT },
    /** Turns that no worker has begun; while there are more, none start. */
    queuedTurns: values.QUEUED_TURNS_MAX,
  };
}
