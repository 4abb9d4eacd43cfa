/** Messages about mistakes in the configuration: where, what is wrong, what to write instead; all of them at once. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import { needsOf } from '../../../src/platform/config/environment.ts';
import type { Combination } from '../../../src/platform/config/environment.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { entrySchema } from '../../../src/platform/config/agents-file/server-entry.ts';
import { testFolder } from '../../test-folder.ts';

/** Servers learn new things. */
const ofServer = Object.keys(entrySchema.shape).join(', ');

function problemsOf(
  agents: string,
  env: Record<string, string> = {},
  needs: readonly Combination[] = [],
): string[] {
  const folder = testFolder();
  writeFileSync(path.join(folder, 'agents.yaml'), agents);
  try {
    loadConfig({ INTERLUDE_CONFIG: 'agents.yaml', ...env }, folder, needs);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map((line) =>
        line.replaceAll(folder, '…').replace(ofServer, '<members of a server>'),
      );
    throw error;
  }
  return [];
}

/** An agents file with these lines under a server, and one agent that uses it. */
const server = (...lines: string[]) =>
  [
    'providers: { scripted: { script: ./script.ts } }',
    'servers:',
    '  tracker:',
    ...lines.map((line) => `    ${line}`),
    'agents:',
    '  assistant: { model: scripted, servers: [tracker] }',
  ].join('\n');

const agent = (...lines: string[]) =>
  [
    'providers: { scripted: { script: ./script.ts } }',
    'servers: { tracker: { url: "http://t/mcp" } }',
    'agents:',
    '  assistant:',
    ...lines.map((line) => `    ${line}`),
  ].join('\n');

const files: [name: string, file: string, problems: string[]][] = [
  [
    'an address without a scheme',
    server('url: tracker.example/mcp'),
    ['agents.yaml:4, servers.tracker.url: write http://… or https://…: an address begins with its scheme'],
  ],
  [
    'a host that reads like a scheme',
    server('url: localhost:3002/mcp'),
    ['agents.yaml:4, servers.tracker.url: write http://… or https://…: an address begins with its scheme'],
  ],
  [
    'another scheme',
    server('url: "ws://tracker/mcp"'),
    ['agents.yaml:4, servers.tracker.url: write an address that begins with http:// or https://'],
  ],
  [
    'a bare number as a duration',
    server('url: http://t/mcp', 'timeout: 30'),
    ['agents.yaml:5, servers.tracker.timeout: a duration has a unit; write "30s" for seconds, or ms, m, h'],
  ],
  [
    'a bare number in quotes',
    server('url: http://t/mcp', 'timeout: "30"'),
    ['agents.yaml:5, servers.tracker.timeout: a duration has a unit; write "30s" for seconds, or ms, m, h'],
  ],
  [
    'a duration in words',
    server('url: http://t/mcp', 'timeout: soon'),
    ['agents.yaml:5, servers.tracker.timeout: write a duration such as 90s, 10m or 1h'],
  ],
  [
    'a variable that is not set',
    server('url: http://${TRACKER_HOST}/mcp'),
    [
      'agents.yaml:4, servers.tracker.url: the variable TRACKER_HOST is not set; set it, or give it a default: ${TRACKER_HOST:-…}',
    ],
  ],
  [
    'a variable of a header',
    server('url: http://t/mcp', 'headersEnv: { x-key: TRACKER_KEY }'),
    [
      'agents.yaml:5, servers.tracker.headersEnv.x-key: the variable TRACKER_KEY is not set; set it in the environment or in .env',
    ],
  ],
  [
    'a misspelt member',
    server('url: http://t/mcp', 'timeuot: 30s', 'credentials: none'),
    [
      'agents.yaml:5, servers.tracker.timeuot: unknown (did you mean timeout?); allowed here: <members of a server>',
      'agents.yaml:6, servers.tracker.credentials: unknown (did you mean credentialScope?); allowed here: <members of a server>',
    ],
  ],
  [
    'a misspelt member of an agent',
    agent('model: scripted', 'server: [tracker]'),
    [
      'agents.yaml:6, agents.assistant.server: unknown (did you mean servers?); allowed here: title, description, model, images, instructions, examples, modelSettings, servers, tools, agents, askUser, frontendTools, maxSteps',
    ],
  ],
  [
    'a misspelt value',
    server('url: http://t/mcp', 'store: valt'),
    ['agents.yaml:5, servers.tracker.store: write one of oauth, nango, vault (did you mean vault?)'],
  ],
  [
    'a store without anybody',
    server('url: http://t/mcp', 'store: vault', 'credentialScope: none'),
    [
      'agents.yaml:6, servers.tracker.credentialScope: with none there are no accounts, so vault keeps nothing; write user or project, or remove store',
    ],
  ],
  [
    'neither url nor command',
    server('title: Tracker'),
    ['agents.yaml:3, servers.tracker.url: write the url of the server, or a command'],
  ],
  [
    'both, beside a misspelt member',
    server('url: http://t/mcp', 'command: [t]', 'titel: T'),
    [
      'agents.yaml:5, servers.tracker.command: a server has a url or a command; remove one of them',
      'agents.yaml:6, servers.tracker.titel: unknown (did you mean title?); allowed here: <members of a server>',
    ],
  ],
  [
    'a command as a text',
    server('command: npx -y tracker'),
    [
      'agents.yaml:4, servers.tracker.command: write a list: the program, then each argument, like [npx, -y, tracker-mcp]',
    ],
  ],
  [
    'Nango without its variables',
    server('url: http://t/mcp', 'store: nango', 'nango: { integration: t }'),
    [
      'agents.yaml:5, servers.tracker.store: accounts at Nango need the variables NANGO_HOST and NANGO_API_KEY; set them in the environment',
    ],
  ],
  [
    'a number where a text belongs',
    server('url: http://t/mcp', 'title: 42'),
    ['agents.yaml:5, servers.tracker.title: write a text in quotes'],
  ],
  ['a member without a value', server('url:'), ['agents.yaml:4, servers.tracker.url: empty; write a text']],
  [
    'a server that does not exist, beside others',
    agent('model: gpt-5', 'servers: [traker, tracker]', 'maxSteps: 0'),
    [
      'agents.yaml:5, agents.assistant.model: write scripted, openai:…, anthropic:…, openai-compatible:… or a package of the AI SDK, for example openai:gpt-5 or @ai-sdk/google:gemini-2.5-pro',
      'agents.yaml:6, agents.assistant.servers.0: there is no server "traker" (did you mean tracker?); describe it under servers or remove it',
      'agents.yaml:7, agents.assistant.maxSteps: write 1 or more',
    ],
  ],
  [
    'an agent that does not exist',
    agent('model: scripted', 'agents: [asistant, other]'),
    [
      'agents.yaml:6, agents.assistant.agents.0: there is no agent "asistant" (did you mean assistant?); describe it under agents or remove it',
      'agents.yaml:6, agents.assistant.agents.1: there is no agent "other"; describe it under agents or remove it',
    ],
  ],
  [
    'a list as one word',
    agent('model: scripted', 'servers: tracker'),
    ['agents.yaml:6, agents.assistant.servers: write a list, like [one, two]'],
  ],
  [
    'a tool list that is none',
    agent('model: scripted', 'servers: [{ name: tracker, tool: [list] }]'),
    [
      'agents.yaml:6, agents.assistant.servers.0.tools: missing; write a list, like [one, two]',
      'agents.yaml:6, agents.assistant.servers.0.tool: unknown (did you mean tools?); allowed here: name, tools',
    ],
  ],
  [
    'a tool list without a tool, and a server that is neither',
    agent('model: scripted', 'servers: [{ name: tracker, tools: [] }, 7]'),
    [
      'agents.yaml:6, agents.assistant.servers.0.tools: name at least 1',
      'agents.yaml:6, agents.assistant.servers.1: write the name of a server, or { name: tracker, tools: [list_issues] }',
    ],
  ],
  [
    'a server that stands twice',
    agent('model: scripted', 'servers: [tracker, { name: tracker, tools: [list] }]'),
    ['agents.yaml:6, agents.assistant.servers.1: "tracker" is listed twice; write it once'],
  ],
  [
    'settings of a model',
    agent(
      'model: scripted',
      'modelSettings:',
      '  temperature: hot',
      '  maxTokens: 5',
      '  topP: 2',
      '  seed: 1.5',
    ),
    [
      'agents.yaml:7, agents.assistant.modelSettings.temperature: write a number',
      'agents.yaml:8, agents.assistant.modelSettings.maxTokens: unknown (did you mean maxOutputTokens?); allowed here: temperature, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed, reasoning, providerOptions',
      'agents.yaml:9, agents.assistant.modelSettings.topP: write 1 or less',
      'agents.yaml:10, agents.assistant.modelSettings.seed: write a whole number',
    ],
  ],
  [
    'options of another provider',
    agent('model: openai-compatible:m', 'modelSettings: { providerOptions: { openai: { user: u } } }'),
    [
      'agents.yaml:5, agents.assistant.model: needs providers.openai-compatible.baseURL; write where the model is',
      "agents.yaml:6, agents.assistant.modelSettings.providerOptions.openai: this agent's model is of another provider; write openaiCompatible",
    ],
  ],
  [
    'an agent without a model',
    agent('title: A'),
    [
      'agents.yaml:4, agents.assistant.model: missing; write scripted, openai:…, anthropic:…, openai-compatible:… or a package of the AI SDK, for example openai:gpt-5 or @ai-sdk/google:gemini-2.5-pro',
    ],
  ],
  [
    'names',
    'servers: { Tracker: { url: t }, a__b: { url: "http://t/" }, a_: { url: "http://t/" }, agent: { command: [x] } }\nagents: { "Support Desk": { model: x } }',
    [
      'agents.yaml:1, servers.Tracker: a name has 1–32 of a-z, 0-9, - and _, and begins with a letter; write for example tracker',
      'agents.yaml:1, servers.Tracker.url: write http://… or https://…: an address begins with its scheme',
      "agents.yaml:1, servers.a__b: a server's name has no two underscores in a row; write one; write for example a_b",
      "agents.yaml:1, servers.a_: a server's name does not end with an underscore; leave it out; write for example a",
      'agents.yaml:1, servers.agent: agents are offered to each other under this name; choose another',
      'agents.yaml:2, agents.Support Desk: a name has 1–32 of a-z, 0-9, - and _, and begins with a letter; write for example support-desk',
      'agents.yaml:2, agents.Support Desk.model: write scripted, openai:…, anthropic:…, openai-compatible:… or a package of the AI SDK, for example openai:gpt-5 or @ai-sdk/google:gemini-2.5-pro',
    ],
  ],
  [
    'the top level',
    'agent: { assistant: { model: scripted } }',
    [
      'agents.yaml:1, agents: describe at least one agent, for example assistant: { model: scripted }',
      'agents.yaml:1, agent: unknown (did you mean agents?); allowed here: providers, servers, agents',
    ],
  ],
  [
    'remote agents',
    'providers: { scripted: { script: s.ts } }\nservers: { desk: { url: "http://t/" } }\nagents:\n  assistant: { model: scripted, agents: [flight] }\n  flights: { card: flights.example, model: x, headersEnv: { a: NO_SUCH } }\n  desk: { card: "http://t/", store: vault, credentialScope: none }',
    [
      'agents.yaml:4, agents.assistant.agents.0: there is no agent "flight" (did you mean flights?); describe it under agents or remove it',
      'agents.yaml:5, agents.flights.card: write http://… or https://…: an address begins with its scheme',
      'agents.yaml:5, agents.flights.model: unknown; allowed here: title, colour, picture, credentialScope, contact, store, oauth, nango, vault, headers, headersEnv, local, approval, timeout, traceparent, maxRounds, card, description, endpoint',
      'agents.yaml:5, agents.flights.headersEnv.a: the variable NO_SUCH is not set; set it in the environment or in .env',
      'agents.yaml:6, agents.desk: a server has this name, and accounts are kept by name; choose another',
      'agents.yaml:6, agents.desk.credentialScope: with none there are no accounts, so vault keeps nothing; write user or project, or remove store',
    ],
  ],
  [
    'no agents',
    'agents: {}',
    ['agents.yaml:1, agents: describe at least one agent, for example assistant: { model: scripted }'],
  ],
  [
    'an empty file',
    '',
    ['agents.yaml:1, agents: describe at least one agent, for example assistant: { model: scripted }'],
  ],
  [
    'YAML that is not valid',
    'agents: [\nservers: {',
    [
      'agents.yaml:2, column 1: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
  ],
  [
    'a name that stands twice',
    'agents:\n  a: { model: scripted }\n  a: { model: scripted }',
    ['agents.yaml:3, column 3: a is written twice here; keep one of them'],
  ],
];

test.each(files)('%s', (_, file, problems) => {
  expect(problemsOf(file)).toEqual(problems);
});

const environments: [env: Record<string, string>, problems: string[]][] = [
  [
    { NANGO_HOST: 'https://nango.example' },
    ['NANGO_API_KEY: needed with NANGO_HOST; it is the secret key in the environment settings of Nango'],
  ],
  [
    { NANGO_API_KEY: 'secret' },
    ['NANGO_HOST: needed with NANGO_API_KEY; it is the address of Nango, like https://api.nango.dev'],
  ],
  [
    { SLACK_BOT_TOKEN: 'xoxb-1' },
    ['SLACK_SIGNING_SECRET: needed for Slack; it is under "Basic Information" of the app at api.slack.com'],
  ],
  [
    { SLACK_SIGNING_SECRET: 's', SLACK_CLIENT_ID: 'id' },
    ['SLACK_CLIENT_SECRET: SLACK_CLIENT_ID belongs to it; give both or neither'],
  ],
  [
    { SLACK_SIGNING_SECRET: 's', SLACK_BOT_TOKEN: 'xapp-1' },
    ['SLACK_BOT_TOKEN: write the bot token, which begins with xoxb-'],
  ],
  [
    { ELICITATION_TIMEOUT: '600' },
    ['ELICITATION_TIMEOUT: a duration has a unit; write "600s" for seconds, or ms, m, h'],
  ],
  [
    {
      PORT: 'http',
      HOST: '::1',
      BODY_LIMIT: '1 MB',
      DATABASE_URL: 'mysql://x',
      TEMPORAL_ADDRESS: 'temporal:7233',
    },
    [
      'PORT: write a port number, for example 3000',
      'BODY_LIMIT: write a whole number',
      'DATABASE_URL: write sqlite:<path> or postgres://<user>:<password>@<host>/<database>',
    ],
  ],
  [
    { DATABASE_DIRECT_URL: 'sqlite:other.db' },
    ['DATABASE_DIRECT_URL: write postgres://<user>:<password>@<host>/<database>'],
  ],
  [
    { DATABASE_DIRECT_URL: 'postgres://db/interlude', DATABASE_URL: 'sqlite:other.db' },
    [
      'DATABASE_DIRECT_URL: goes with DATABASE_URL, as another address of the same PostgreSQL database; give both or neither',
    ],
  ],
  [
    { PUBLIC_URL: 'chat.example', AUTH_ISSUER: 'login.example' },
    [
      'PUBLIC_URL: write http://… or https://…: an address begins with its scheme',
      'AUTH_ISSUER: write http://… or https://…: an address begins with its scheme',
    ],
  ],
  [
    { INTERLUDE_KEYS: 'hunter2' },
    ['INTERLUDE_KEYS: key 1: write id:base64; make a key with: echo "k1:$(openssl rand -base64 32)"'],
  ],
  [
    { LOG_LEVEL: 'verbose', TEMPORAL_TLS: 'maybe' },
    [
      'TEMPORAL_TLS: write true or false',
      'LOG_LEVEL: write one of fatal, error, warn, info, debug, trace, silent',
    ],
  ],
  [
    { TURN_TIMEOUT: '5m', ELICITATION_TIMEOUT: 'ten' },
    ['ELICITATION_TIMEOUT: write a duration such as 90s, 10m or 1h'],
  ],
];

test.each(environments)('%j', (env, problems) => {
  expect(problemsOf(agent('model: scripted'), env)).toEqual(problems);
});

test('a variable may be read from a file, also one that the agents file names', () => {
  const folder = testFolder();
  const put = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  put('agents.yaml', server('url: "http://tracker/mcp"', 'headersEnv: { x-key: TRACKER_KEY }'));
  const env = { INTERLUDE_CONFIG: 'agents.yaml' };
  const files = {
    TRACKER_KEY_FILE: put('key', 'secret\n'),
    DATABASE_URL_FILE: put('database', 'sqlite:other.db\n'),
  };
  const config = loadConfig({ ...env, ...files }, folder);
  expect(config.database).toEqual({ kind: 'sqlite', path: path.join(folder, 'other.db') });
  expect(config.servers.get('tracker')?.headers).toEqual({ 'x-key': 'secret' });
});

test('both addresses of a database may be read from files', () => {
  const folder = testFolder();
  const put = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  put('agents.yaml', server('url: "http://tracker/mcp"'));
  const { database } = loadConfig(
    {
      INTERLUDE_CONFIG: 'agents.yaml',
      INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=`,
      DATABASE_URL_FILE: put('pooled', 'postgres://pooler/interlude\n'),
      DATABASE_DIRECT_URL_FILE: put('direct', 'postgres://db/interlude\n'),
    },
    folder,
  );
  expect(database).toMatchObject({ kind: 'postgres', url: 'postgres://pooler/interlude' });
  const { directUrl } = database as { directUrl?: () => string };
  expect(directUrl?.()).toBe('postgres://db/interlude');
});

test('for a file that cannot be read, and one beside its variable, the message says what to write', () => {
  const agents = server('url: "http://tracker/mcp"');
  expect(problemsOf(agents, { INTERLUDE_KEYS_FILE: '/nowhere/keys' })).toEqual([
    'INTERLUDE_KEYS_FILE: /nowhere/keys does not exist; write the path of a file with the value of INTERLUDE_KEYS',
  ]);
  expect(problemsOf(agents, { PORT: '3000', PORT_FILE: '/dev/null' })).toEqual([
    'PORT_FILE: PORT is set as well; remove one of them',
  ]);
  expect(problemsOf(agents, { PORT_FILE: '/dev/null' })).toEqual([
    'PORT_FILE: /dev/null is empty; write the path of a file with the value of PORT',
  ]);
  expect(problemsOf(agents, { PORT_FILE: '/tmp', TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere' })).toEqual([
    'PORT_FILE: /tmp is a folder; write the path of a file with the value of PORT',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH: /nowhere does not exist; write the path of a file',
  ]);
  expect(problemsOf(agents, { INTERLUDE_CONFIG: 'other.yaml' })).toEqual([
    'other.yaml does not exist; go to the folder of your agents file, or set INTERLUDE_CONFIG to it',
  ]);
  expect(() => loadConfig({}, testFolder())).toThrow(
    'agents.yaml does not exist; go to the folder of your agents file, or set INTERLUDE_CONFIG to it',
  );
  expect(problemsOf(agents, { INTERLUDE_CONFIG: '/tmp' })).toEqual([
    '/tmp is a folder; go to the folder of your agents file, or set INTERLUDE_CONFIG to it',
  ]);
});

test.each([
  [{}, 'server', ['AUTH_ISSUER']],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, 'server', ['INTERNAL_PORT', 'AUTH_ISSUER']],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, 'worker', ['INTERNAL_PORT']],
  [{ OTEL_METRICS_EXPORTER: 'prometheus', OTEL_SDK_DISABLED: 'true' }, 'start', []],
] as const)('with %j, everything that the process %s lacks is reported at once', (env, kind, lacks) => {
  const problems = problemsOf(agent('model: scripted'), env, needsOf[kind]);
  expect(problems.map((problem) => problem.split(':', 1)[0])).toEqual(lacks);
});

describe('a variable that nothing reads', () => {
  const warningsOf = (env: Record<string, string>, agents = agent('model: scripted')) => {
    const folder = testFolder();
    writeFileSync(path.join(folder, 'agents.yaml'), agents);
    return loadConfig({ INTERLUDE_CONFIG: 'agents.yaml', ...env }, folder).warnings;
  };

  test.each([
    ['TEMPORAL_ADDRES', ' (did you mean TEMPORAL_ADDRESS?)'],
    ['TEMPORAL_NAMSPACE', ' (did you mean TEMPORAL_NAMESPACE?)'],
    ['AUTH_ISUER_FILE', ' (did you mean AUTH_ISSUER?)'],
    ['INTERLUDE_SOMETHING_ELSE', ''],
  ])('%s is a warning', (name, hint) => {
    expect(warningsOf({ [name]: 'x' })).toEqual([`${name}: no variable of this name is read${hint}`]);
  });

  test.each([
    'HOSTNAME',
    'POSTGRES_PASSWORD',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_LOGS_EXPORTER',
    'OTEL_SERVICE_NAME',
    'INTERLUDE_TOKEN',
    'TEMPORAL_ADDRESS',
    'DATABASE_HOST',
  ])('%s is none', (name) => {
    const given = { [name]: 'temporal:7233', INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=` };
    expect(warningsOf(given)).toEqual([]);
  });

  test('may be named by the agents file', () => {
    const agents = server('url: "http://tracker/mcp"', 'headersEnv: { x-key: SLACK_BOT_TOKENS }');
    expect(warningsOf({ SLACK_BOT_TOKENS: 'x' }, agents)).toEqual([]);
  });

  test('is named where the configuration is refused, too', () => {
    expect(() => warningsOf({ AUTH_ISUER: 'https://login.example', PORT: 'x' })).toThrow(
      '  • AUTH_ISUER: no variable of this name is read (did you mean AUTH_ISSUER?)',
    );
  });
});
