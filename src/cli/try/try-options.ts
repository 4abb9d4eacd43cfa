/** The options of `interlude try` and `interlude lint-server`. Tables only, so that help starts fast. */
import type { Options } from '../command.ts';

export const connectionOptions = {
  timeout: {
    type: 'string',
    value: '<duration>',
    description: 'how long the server may say nothing',
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
    description: 'which MCP to speak',
    default: 'auto',
  },
  can: {
    type: 'string',
    value: '<form,url>',
    description: 'which questions the client declares that it can show: form,url, form, url or none',
    default: 'form,url',
  },
  token: {
    type: 'string',
    value: '<token>',
    description: 'for a server that wants one (INTERLUDE_TRY_TOKEN)',
  },
  'client-id': {
    type: 'string',
    value: '<id>',
    description: 'who this program is where one signs in, if it may not register itself',
  },
  header: { type: 'strings', value: '<name: value>', description: 'sent with every request' },
} as const satisfies Options;

export const sourceOptions = {
  answers: { type: 'strings', value: '<file>', description: 'answer from a file (YAML)' },
  responder: { type: 'strings', value: '<url>', description: 'answer by a program that is asked over HTTP' },
  'responder-header': { type: 'strings', value: '<name: value>', description: 'sent to responders' },
  'responder-timeout': {
    type: 'string',
    value: '<duration>',
    description: 'how long a responder may take',
    default: '30s',
  },
  prompt: { type: 'boolean', description: 'ask here in the terminal; the default where there is one' },
  decline: { type: 'boolean', description: 'decline what nothing else answers' },
} as const;

export const tryOptions = {
  tool: {
    type: 'string',
    value: '<name>',
    description: 'call this tool; without it, the tools are listed',
  },
  args: { type: 'strings', value: '<key=value | JSON>', description: 'its arguments' },
  ...sourceOptions,
  'max-rounds': { type: 'string', value: '<number>', description: 'how often it may ask', default: '5' },
  ...connectionOptions,
  record: { type: 'string', value: '<cassette>', description: 'write all that is said into a file' },
  replay: {
    type: 'string',
    value: '<cassette>',
    description: 'make the recorded calls again, and show what the server says differently',
  },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;

const { prompt: _prompt, decline: _decline, ...answering } = sourceOptions;

export const lintOptions = {
  calls: { type: 'string', value: '<file>', description: 'with what to call the tools (YAML)' },
  tool: { type: 'strings', value: '<name>', description: 'call this one, whatever it says of itself' },
  all: { type: 'boolean', description: 'call all tools, those included that do not say that they ask' },
  ...answering,
  ...connectionOptions,
  timeout: { ...connectionOptions.timeout, default: '20s' },
  strict: { type: 'boolean', description: 'exit code 1 for warnings, too' },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;
