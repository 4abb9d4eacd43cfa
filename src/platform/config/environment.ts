/** Reads the environment, and reports everything that is wrong with it at once. */
import { readFileSync } from 'node:fs';
import { isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';
import { environmentSchema } from './environment-schema.ts';
import type { Environment } from './environment-schema.ts';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';
import { didYouMean, nearestSpelling } from '@interlude-ai/core/nearest-spelling.ts';
import { remedyMessages } from './problem-messages.ts';

export const environmentVariables = Object.keys(environmentSchema.shape);

/** Whether the service itself reads it, regardless of the agents file. */
export function isOurVariable(name: string): boolean {
  return name in environmentSchema.shape;
}

/** Null if something is wrong; the problems are added to `problems`. `needs`: additional checks of this process. */
export function readEnvironment(
  given: Record<string, string>,
  problems: string[],
  needs: readonly Combination[] = [],
): Environment | null {
  const parsed = environmentSchema.safeParse(given, { error: remedyMessages });
  const wrong = new Map((parsed.error?.issues ?? []).map(({ path, message }) => [String(path[0]), message]));
  for (const [name, message] of wrong) problems.push(`${name}: ${message}`);
  // The other variables are checked nevertheless.
  const readable = Object.entries(given).filter(([name]) => !wrong.has(name));
  const values = environmentSchema.parse(Object.fromEntries(readable));
  for (const { names, isWrong, remedy } of [...combinations, ...needs]) {
    if (names.every((name) => !wrong.has(name)) && isWrong(values)) problems.push(`${names[0]}: ${remedy}`);
  }
  problems.push(...unreadableFiles(values));
  return parsed.success ? parsed.data : null;
}

// Variables that are only wrong in combination, and files that cannot be read.

export interface Combination {
  /** The variable to change, and those that it depends on. */
  names: [keyof Environment, ...(keyof Environment)[]];
  isWrong: (values: Environment) => boolean;
  remedy: string;
}

/** Databases and Temporals other than the embedded ones need keys; secrets come in pairs. */
const combinations: Combination[] = [
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

/** Additional checks of a process. Commands read the environment as well, but listen nowhere. */
export const needsOf = {
  start: [needsInternalPort],
  server: [
    needsInternalPort,
    {
      names: ['AUTH_ISSUER'],
      isWrong: ({ AUTH_ISSUER }) => AUTH_ISSUER === undefined,
      remedy:
        'needed by the API, and AUTH_CLIENT_ID with it; only `interlude start` brings a demo issuer along',
    },
  ],
  worker: [needsInternalPort],
} satisfies Record<string, Combination[]>;

export type ProcessKind = keyof typeof needsOf;

function unreadableFiles(values: Environment): string[] {
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

// Variables that are set although nothing reads them: probably misspelt.

/** Read by commands, by the set-up, or before a process starts. */
const readElsewhere = [
  'INTERLUDE_TOKEN',
  'INTERLUDE_TRY_TOKEN',
  'INTERLUDE_ENVIRONMENT',
  'TEMPORAL_CLI_PATH',
];

/** Shorter names resemble too many others. */
const shortestLength = 6;

/**
 * A message for each variable whose name resembles one of ours or begins with `INTERLUDE_`. `known`: what the service
 * reads. `isNamed`: whether the agents file names it.
 */
export function unreadVariables(
  env: Record<string, string>,
  known: readonly string[],
  isNamed: (name: string) => boolean,
): string[] {
  return Object.keys(env).flatMap((name) => {
    const variable = name.replace(/_FILE$/, '');
    if ([...known, ...readElsewhere].some((one) => one === name || one === variable)) return [];
    const nearest =
      variable.length < shortestLength
        ? undefined
        : nearestSpelling(variable, known, variable.length < 10 ? 1 : 2);
    if ((nearest === undefined && !name.startsWith('INTERLUDE_')) || isNamed(name) || isNamed(variable))
      return [];
    const meant = nearest === undefined ? didYouMean(variable, known) : ` (did you mean ${nearest}?)`;
    return [`${name}: no variable of this name is read${meant}`];
  });
}
