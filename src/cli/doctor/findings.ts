/** What `interlude doctor` can find. The codes are part of its contract; docs/doctor.md has the same table. */

export type Level = 'ok' | 'warning' | 'error';

/** An error: a deploy now is not safe. */
export const problems = {
  'settings-wrong': {
    level: 'error',
    remedy: 'correct the setting; docs/configuration.md lists all of them',
  },
  'settings-unread': { level: 'warning', remedy: 'correct its name, or remove it' },
  'not-checked': { level: 'error', remedy: 'mend what is named here, and run this again' },
  'database-away': {
    level: 'error',
    remedy: 'check DATABASE_URL, and that this machine reaches the database',
  },
  'database-read-only': { level: 'error', remedy: 'give DATABASE_URL the address of the primary' },
  'database-full': { level: 'error', remedy: 'make room, or enlarge the disk: docs/operating.md' },
  'database-too-old': {
    level: 'error',
    remedy: 'start commit 53bbe43d with it once, the last that brings it up to date',
  },
  'database-newer': {
    level: 'warning',
    remedy: 'nothing, when you go back by one release; by more, deploy a release between them',
  },
  'database-pooler': {
    level: 'warning',
    remedy: 'set DATABASE_DIRECT_URL to an address of the database itself',
  },
  'database-connections': {
    level: 'warning',
    remedy: 'raise max_connections, put a pooler in front, or run fewer processes; each takes up to 30',
  },
  'database-locks': { level: 'error', remedy: 'end it, so that no migration waits for it' },
  'keys-wrong': { level: 'error', remedy: 'put the former key back' },
  'clock-differs': { level: 'warning', remedy: 'synchronise both machines with NTP' },
  'temporal-away': {
    level: 'error',
    remedy: 'check TEMPORAL_ADDRESS, and that this machine reaches Temporal',
  },
  'temporal-too-old': { level: 'error', remedy: 'upgrade Temporal first' },
  'temporal-namespace': { level: 'error', remedy: 'create it, or correct TEMPORAL_NAMESPACE' },
  'temporal-attributes': {
    level: 'warning',
    remedy: 'the next process adds them; where it may not, create them yourself',
  },
  'installation-apart': {
    level: 'error',
    remedy: 'interlude installation status; then decide: interlude installation adopt',
  },
  'installation-unknown': {
    level: 'warning',
    remedy: 'use a Temporal with schedules, so that a restored copy is noticed',
  },
  workers: {
    level: 'warning',
    remedy: 'start a worker (interlude worker), or read the log of the one that runs',
  },
  'turns-of-another-contract': {
    level: 'error',
    remedy: 'deploy the release that runs these versions, and this one when their turns have ended',
  },
  'turns-without-code': {
    level: 'error',
    remedy: 'start a worker of the release that began them, or cancel them: interlude turns',
  },
  'turns-without-version': {
    level: 'warning',
    remedy: 'cancel them (interlude turns); no worker of this release runs them',
  },
  'turns-without-worker': {
    level: 'warning',
    remedy: 'start a worker: it runs every version whose code is kept',
  },
  'issuer-away': { level: 'error', remedy: 'check AUTH_ISSUER' },
  'issuer-keys': {
    level: 'error',
    remedy: 'see that the provider publishes its signing keys there, and that this machine reaches it',
  },
  'issuer-client': {
    level: 'error',
    remedy:
      'correct AUTH_CLIENT_ID and AUTH_CLIENT_SECRET, or the client at the provider: no one can sign in on the pages',
  },
  'slack-bot-token': {
    level: 'error',
    remedy: 'set SLACK_BOT_TOKEN to the token of the app as it is installed now',
  },
  'slack-client': {
    level: 'error',
    remedy: 'copy both from "Basic Information" of the app at api.slack.com',
  },
  'slack-workspace': {
    level: 'warning',
    remedy: 'install the app there again: <PUBLIC_URL>/slack/install',
  },
  'slack-away': { level: 'warning', remedy: 'run this again; check that this machine reaches SLACK_API_URL' },
  'nango-key': {
    level: 'error',
    remedy: 'set NANGO_API_KEY to a key of the environment at Nango',
  },
  'nango-away': { level: 'warning', remedy: 'check NANGO_HOST, and that this machine reaches it' },
  'agent-lacks': { level: 'error', remedy: 'correct the agents file, or set the key that it names' },
  'server-away': {
    level: 'warning',
    remedy: 'calls fail until it answers; correct its entry in the agents file if that is wrong',
  },
  'server-sign-in': { level: 'warning', remedy: 'no one can connect an account until its sign-in is mended' },
  'server-client': {
    level: 'warning',
    remedy: 'register a client there, and write oauth.clientId and oauth.issuer in the agents file',
  },
  'server-client-refused': {
    level: 'warning',
    remedy:
      'correct oauth.clientId and the secret of its clientSecretEnv: no one can connect an account until then',
  },
  'server-document': { level: 'warning', remedy: 'the owner of the server has to correct it' },
  'server-tool': {
    level: 'warning',
    remedy: 'the owner of the server has to change its schema; agents work without it',
  },
  'address-unsafe': { level: 'warning', remedy: 'put a proxy with TLS in front, and write https' },
  'address-unanswered': {
    level: 'warning',
    remedy: 'before the first deploy nothing answers; else check PUBLIC_URL, and the proxy in front',
  },
  'process-not-ready': {
    level: 'warning',
    remedy: 'see the log of the process; new processes will lack the same',
  },
  'process-warning': { level: 'warning', remedy: 'see the log of the process' },
  'disk-low': { level: 'warning', remedy: 'make room, or enlarge the disk' },
  'disk-full': { level: 'error', remedy: 'make room now, or enlarge the disk' },
} as const satisfies Record<string, { level: Level; remedy: string }>;

export type Code = keyof typeof problems;

export type Finding =
  | { level: 'ok'; text: string }
  | { level: 'warning' | 'error'; code: Code; text: string; remedy: string };

export function ok(text: string): Finding {
  return { level: 'ok', text };
}

export function problem(code: Code, text: string, remedy: string = problems[code].remedy): Finding {
  return { level: problems[code].level, code, text, remedy };
}

/** For messages like "what is wrong; what to do". */
export function problemOf(code: Code, message: string): Finding {
  const [, text = message, remedy] = /^([^;]+); (.+)$/s.exec(message) ?? [];
  return problem(code, text, remedy);
}

export function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
