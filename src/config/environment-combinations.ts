/** Variables of the environment that are only wrong together, and files they name that cannot be read. */
import { readFileSync } from 'node:fs';
import { isSafeToOpen } from '../elicitation/url-safety.ts';
import type { Environment } from './environment-schema.ts';
import { fileTrouble } from './file-trouble.ts';

export interface Combination {
  /** The one to change, and those that it depends on. */
  names: [keyof Environment, ...(keyof Environment)[]];
  isWrong: (values: Environment) => boolean;
  remedy: string;
}

/** Anything that leaves the embedded defaults needs its own keys, and secrets come in pairs. */
export const combinations: Combination[] = [
  {
    names: ['INTERLUDE_KEYS', 'DATABASE_URL', 'TEMPORAL_ADDRESS'],
    isWrong: ({ DATABASE_URL, TEMPORAL_ADDRESS, INTERLUDE_KEYS }) =>
      (DATABASE_URL?.startsWith('postgres') === true || TEMPORAL_ADDRESS !== undefined) &&
      INTERLUDE_KEYS === undefined,
    remedy:
      'needed as soon as a database or Temporal of your own is used; make one with: echo "k1:$(openssl rand -base64 32)"',
  },
  {
    names: ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
    isWrong: ({ DATABASE_URL, DATABASE_DIRECT_URL }) =>
      DATABASE_DIRECT_URL !== undefined && DATABASE_URL?.startsWith('postgres') !== true,
    remedy:
      'goes with DATABASE_URL, as another address of the same PostgreSQL database; give both or neither',
  },
  {
    names: ['AUTH_CLIENT_ID'],
    isWrong: ({ AUTH_ISSUER, AUTH_CLIENT_ID }) => AUTH_ISSUER !== undefined && AUTH_CLIENT_ID === undefined,
    remedy:
      'needed with AUTH_ISSUER, for the login of the connect page; register a client there with the redirect <PUBLIC_URL>/auth/login/callback',
  },
  {
    names: ['AUTH_ISSUER'],
    isWrong: ({ AUTH_ISSUER }) => AUTH_ISSUER !== undefined && !isSafeToOpen(AUTH_ISSUER),
    remedy: 'begin with https://; plain http is for an issuer on this machine only',
  },
  {
    names: ['AUTH_OPERATOR_ROLE', 'AUTH_CONTENTS_ROLE'],
    isWrong: ({ AUTH_OPERATOR_ROLE, AUTH_CONTENTS_ROLE }) =>
      AUTH_OPERATOR_ROLE === undefined && AUTH_CONTENTS_ROLE !== undefined,
    remedy: 'needed with AUTH_CONTENTS_ROLE, which only operators can have',
  },
  {
    names: ['IMAGES_MAX_BYTES_PER_MESSAGE', 'IMAGE_MAX_BYTES'],
    isWrong: ({ IMAGES_MAX_BYTES_PER_MESSAGE: all, IMAGE_MAX_BYTES: one }) => all < one,
    remedy: 'a message with one image has to fit; write IMAGE_MAX_BYTES or more',
  },
  {
    names: ['IMAGES_MAX_BYTES_PER_CONVERSATION', 'IMAGES_MAX_BYTES_PER_MESSAGE'],
    isWrong: ({ IMAGES_MAX_BYTES_PER_CONVERSATION: all, IMAGES_MAX_BYTES_PER_MESSAGE: one }) => all < one,
    remedy: 'the images of a new message have to fit; write IMAGES_MAX_BYTES_PER_MESSAGE or more',
  },
  {
    names: ['TURN_TIMEOUT', 'ELICITATION_TIMEOUT'],
    isWrong: ({ TURN_TIMEOUT, ELICITATION_TIMEOUT }) =>
      TURN_TIMEOUT !== undefined && TURN_TIMEOUT <= ELICITATION_TIMEOUT,
    remedy: 'a turn has to outlive its questions; write more than ELICITATION_TIMEOUT, many times as much',
  },
  {
    names: ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
    isWrong: ({ TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key }) =>
      (cert === undefined) !== (key === undefined),
    remedy: 'TEMPORAL_TLS_CLIENT_KEY_PATH belongs to it; give both or neither',
  },
  {
    names: ['NANGO_API_KEY', 'NANGO_HOST'],
    isWrong: ({ NANGO_HOST, NANGO_API_KEY }) => NANGO_HOST !== undefined && NANGO_API_KEY === undefined,
    remedy: 'needed with NANGO_HOST; it is the secret key in the environment settings of Nango',
  },
  {
    names: ['NANGO_HOST', 'NANGO_API_KEY'],
    isWrong: ({ NANGO_HOST, NANGO_API_KEY }) => NANGO_HOST === undefined && NANGO_API_KEY !== undefined,
    remedy: 'needed with NANGO_API_KEY; it is the address of Nango, like https://api.nango.dev',
  },
  {
    names: ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN', 'SLACK_CLIENT_ID', 'SLACK_APP_TOKEN'],
    isWrong: ({ SLACK_SIGNING_SECRET, SLACK_BOT_TOKEN, SLACK_CLIENT_ID, SLACK_APP_TOKEN }) =>
      SLACK_SIGNING_SECRET === undefined &&
      [SLACK_BOT_TOKEN, SLACK_CLIENT_ID, SLACK_APP_TOKEN].some((value) => value !== undefined),
    remedy: 'needed for Slack; it is under "Basic Information" of the app at api.slack.com',
  },
  {
    names: ['SLACK_CLIENT_SECRET', 'SLACK_CLIENT_ID'],
    isWrong: ({ SLACK_CLIENT_ID: id, SLACK_CLIENT_SECRET: secret }) =>
      (id === undefined) !== (secret === undefined),
    remedy: 'SLACK_CLIENT_ID belongs to it; give both or neither',
  },
];

const needsInternalPort: Combination = {
  names: ['INTERNAL_PORT', 'OTEL_METRICS_EXPORTER', 'OTEL_SDK_DISABLED'],
  isWrong: ({ INTERNAL_PORT, OTEL_METRICS_EXPORTER: exporters = [], OTEL_SDK_DISABLED: isOff }) =>
    !isOff && exporters.includes('prometheus') && INTERNAL_PORT === undefined,
  remedy: 'needed with prometheus in OTEL_METRICS_EXPORTER; /metrics is on this port',
};

/** What a process needs besides. Commands read the environment, too, and need less: they listen nowhere. */
export const needsOf = {
  start: [needsInternalPort],
  server: [
    needsInternalPort,
    {
      names: ['AUTH_ISSUER'],
      isWrong: ({ AUTH_ISSUER }) => AUTH_ISSUER === undefined,
      remedy: 'needed by the API, and AUTH_CLIENT_ID with it; only `npm start` brings a demo issuer along',
    },
  ],
  worker: [needsInternalPort],
} satisfies Record<string, Combination[]>;

export type ProcessKind = keyof typeof needsOf;

export function unreadableFiles(values: Environment): string[] {
  const names = [
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
  ] as const;
  return names.flatMap((name) => {
    const file = values[name];
    if (file === undefined) return [];
    try {
      readFileSync(file);
      return [];
    } catch (error) {
      return [`${name}: ${fileTrouble(file, error)}; write the path of a file`];
    }
  });
}
