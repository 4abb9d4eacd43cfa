/** The options of `interlude try` and `interlude lint-server`. Tables only, so that help starts fast. */
import type { Options } from '../terminal/command.ts';

export const connectionOptions = {
  timeout: {
    type: 'string',
    value: '<duration>',
    description: 'how long the server may stay silent',
    default: '60s',
  },
  'max-time': {
    type: 'string',
    value: '<duration>',
    description: 'how long a call may take in all, questions not counted',
    default: '10m',
  },
  era: {
    type: 'string',
    value: '<auto | modern | legacy>',
    description: 'which MCP to speak: modern is 2026-07-28, legacy is older, auto finds out',
    default: 'auto',
  },
  can: {
    type: 'string',
    value: '<form,url>',
    description: 'the questions it declares that it can show: form,url, form, url or none',
    default: 'form,url',
  },
  token: {
    type: 'string',
    value: '<token>',
    description: 'the token that the server wants (default: INTERLUDE_TRY_TOKEN)',
  },
  'client-id': {
    type: 'string',
    value: '<id>',
    description: 'the OAuth client to sign in as, if this program cannot register itself',
  },
  header: { type: 'strings', value: '<name: value>', description: 'sent with every request' },
} as const satisfies Options;

export const sourceOptions = {
  answers: { type: 'strings', value: '<file>', description: 'answer from a file (YAML)' },
  responder: {
    type: 'strings',
    value: '<url>',
    description: 'answer from a program that is asked over HTTP',
  },
  'responder-header': {
    type: 'strings',
    value: '<name: value>',
    description: 'sent with every request to a responder',
  },
  'responder-timeout': {
    type: 'string',
    value: '<duration>',
    description: 'how long a responder may take',
    default: '30s',
  },
  prompt: { type: 'boolean', description: 'ask in this terminal; the default if there is one' },
  decline: { type: 'boolean', description: 'decline what nothing else answers' },
} as const;

export const tryOptions = {
  tool: {
    type: 'string',
    value: '<name>',
    description: 'call this tool; without it, the tools are listed',
  },
  args: { type: 'strings', value: '<key=value | JSON>', description: 'its arguments; may be repeated' },
  ...sourceOptions,
  'max-rounds': { type: 'string', value: '<number>', description: 'how often it may ask', default: '5' },
  ...connectionOptions,
  record: { type: 'string', value: '<cassette>', description: 'record the session in this file' },
  replay: {
    type: 'string',
    value: '<cassette>',
    description: 'make the recorded calls again, and show what the server says differently',
  },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;

const { prompt: _prompt, decline: _decline, ...answering } = sourceOptions;

export const lintOptions = {
  calls: { type: 'string', value: '<file>', description: 'the arguments to call the tools with (YAML)' },
  tool: {
    type: 'strings',
    value: '<name>',
    description: 'call this tool, even if it does not say that it asks',
  },
  all: { type: 'boolean', description: 'call all tools, even those that do not say that they ask' },
  ...answering,
  ...connectionOptions,
  timeout: { ...connectionOptions.timeout, default: '20s' },
  strict: { type: 'boolean', description: 'exit with 1 for warnings, too' },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;
