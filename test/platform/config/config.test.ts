import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { environmentVariables } from '../../../src/platform/config/environment.ts';
import { testFolder } from '../../test-folder.ts';

const minimal = `
providers: { scripted: { script: ./script.ts } }
servers: { tracker: { title: Tracker, url: "http://127.0.0.1:3002/mcp" } }
agents: { assistant: { model: scripted, servers: [tracker] } }
`;

function folderWith(agents: string): string {
  const folder = testFolder();
  writeFileSync(path.join(folder, 'agents.yaml'), agents);
  return folder;
}

function load(env: Record<string, string>, agents = minimal) {
  return loadConfig({ INTERLUDE_CONFIG: 'agents.yaml', ...env }, folderWith(agents));
}

function problemsOf(env: Record<string, string>, agents?: string): string[] {
  try {
    load(env, agents);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('nothing has to be configured', () => {
  const config = load({});
  expect(config.http).toMatchObject({ port: 3000, host: '127.0.0.1', publicUrl: 'http://127.0.0.1:3000' });
  expect(config.database.kind).toBe('sqlite');
  expect(config.temporal.address).toBeUndefined();
  expect(config.auth).toBeUndefined();
  expect(config.elicitation).toEqual({
    timeoutMs: 600_000,
    maxOpen: 20,
    maxOpenPerTurn: 20,
    maxOpenPerTenant: undefined,
  });
  expect(config.retention).toEqual({ answersMs: 2_592_000_000, stateMs: 2_592_000_000 });
  expect(config.worker).toEqual({ calls: 100, heldCalls: 300 });
  expect(config.servers.get('tracker')).toMatchObject({
    name: 'tracker',
    title: 'Tracker',
    credentialScope: 'user',
    timeout: 60_000,
  });
  expect(config.agents.get('assistant')).toMatchObject({ title: 'assistant', maxSteps: 20 });
});

test('a process that stops waits as long as a call may take that its worker has begun', () => {
  const graceWith = (timeout: string, agent: string, env = {}) =>
    load(
      env,
      `
providers: { scripted: { script: ./script.ts } }
servers: { tracker: { url: "http://127.0.0.1:3002/mcp", timeout: ${timeout} } }
agents: { assistant: { model: scripted, ${agent} } }
`,
    ).shutdownGraceMs;
  expect(graceWith('20s', 'servers: [tracker]')).toBe(20_000);
  expect(graceWith('1s', 'servers: [tracker]')).toBe(10_000);
  // Activities of tools have a minute unless their authors say otherwise.
  expect(graceWith('20s', 'tools: { folder: . }')).toBe(60_000);
  expect(graceWith('2m', 'tools: { folder: . }')).toBe(120_000);
  expect(graceWith('20s', 'tools: { folder: . }', { SHUTDOWN_GRACE_PERIOD: '5s' })).toBe(5_000);
});

test('each default steps aside on its own', () => {
  const keys = { INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=` };
  expect(load({ DATABASE_URL: 'postgres://db/interlude', ...keys })).toMatchObject({
    database: { kind: 'postgres' },
    temporal: { address: undefined },
    auth: undefined,
  });
  expect(load({ TEMPORAL_ADDRESS: 'temporal:7233', ...keys })).toMatchObject({
    database: { kind: 'sqlite' },
    temporal: { address: 'temporal:7233' },
    auth: undefined,
  });
  expect(load({ AUTH_ISSUER: 'https://login.example', AUTH_CLIENT_ID: 'interlude' })).toMatchObject({
    database: { kind: 'sqlite' },
    auth: { issuer: 'https://login.example', audience: 'interlude', tenantClaim: null },
  });
});

test('an issuer is asked in the clear on this machine only', () => {
  const client = { AUTH_CLIENT_ID: 'connect' };
  for (const issuer of [
    'http://127.0.0.1:9000',
    'http://localhost',
    'http://[::1]:1',
    'http://id.localhost/a',
  ])
    expect(load({ AUTH_ISSUER: issuer, ...client }).auth?.issuer).toBe(issuer);
  for (const issuer of ['http://login.example', 'http://127.0.0.1.example', 'http://10.0.0.1'])
    expect(problemsOf({ AUTH_ISSUER: issuer, ...client })).toEqual([
      expect.stringMatching(/^AUTH_ISSUER: begin with https/),
    ]);
});

test('everything wrong is reported at once, by name and with what to do', () => {
  const problems = problemsOf(
    {
      PORT: 'eighty',
      DATABASE_URL: 'mysql://x',
      TEMPORAL_ADDRESS: 'temporal:7233',
      AUTH_ISSUER: 'https://login.example',
      ELICITATION_TIMEOUT: 'ten minutes',
    },
    `
providers: {}
servers: { tracker: { url: "ftp://x", timeout: soon, colour: blue } }
agents: { Writer: { model: scripted }, assistant: { model: gpt, servers: [wiki], maxSteps: 0 } }
`,
  );
  const all = problems.join('\n');
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'ELICITATION_TIMEOUT',
    'servers.tracker.url',
    'servers.tracker.timeout',
    'colour',
    'Writer',
    'assistant.model',
    'assistant.maxSteps',
  ]) {
    expect(all).toContain(name);
  }
  expect(
    problemsOf({ TEMPORAL_ADDRESS: 'temporal:7233', AUTH_ISSUER: 'https://login.example' }).join('\n'),
  ).toMatch(/INTERLUDE_KEYS.*openssl[\s\S]*AUTH_CLIENT_ID/);
});

test('references inside the agents file are checked', () => {
  const problems = problemsOf(
    {},
    `
servers: { tracker: { url: "http://t/mcp", headersEnv: { x-key: TRACKER_KEY } } }
agents:
  assistant: { model: "openai:gpt-5", servers: [wiki] }
  other: { model: "openai-compatible:m" }
`,
  ).join('\n');
  for (const words of ['no server "wiki"', 'OPENAI_API_KEY', 'providers.openai-compatible', 'TRACKER_KEY']) {
    expect(problems).toContain(words);
  }
});

test('agents may hand tasks to agents that exist, and never in a circle', () => {
  const withAgents = (agents: Record<string, string[]>, more = '') =>
    ['providers: { scripted: { script: ./script.ts } }', 'agents:']
      .concat(
        Object.entries(agents).map(
          ([name, to]) => `  ${name}: { model: scripted, agents: [${to.join(', ')}] }`,
        ),
      )
      .concat(more)
      .join('\n');
  const chain = { a: ['b', 'c'], b: ['c'], c: [] };
  expect(load({}, withAgents(chain)).agents.get('a')?.agents).toEqual(['b', 'c']);
  expect(problemsOf({}, withAgents({ a: ['a'], b: ['x'] }))).toEqual([
    'agents.yaml:3, agents.a.agents: a → a is a circle, and such a task would never end; remove one of them',
    'agents.yaml:4, agents.b.agents.0: there is no agent "x"; describe it under agents or remove it',
  ]);
  const circles = problemsOf(
    {},
    withAgents({ a: ['b', 'd'], b: ['c'], c: ['b', 'a'], d: ['a', 'constructor'] }),
  );
  expect(circles.map((problem) => /: (.+ →.+) is a circle|no agent "(.+)"/.exec(problem)?.slice(1))).toEqual([
    ['a → b → c → a', undefined],
    ['a → d → a', undefined],
    ['b → c → b', undefined],
    [undefined, 'constructor'],
  ]);
  const nameOf = {
    agent: 'agents are offered to each other',
    a__b: 'no two underscores in a row',
    a_: 'does not end with an underscore',
  };
  for (const [server, reason] of Object.entries(nameOf)) {
    const servers = `servers: { ${server}: { url: "http://s/mcp" } }`;
    expect(problemsOf({}, withAgents(chain, servers))).toEqual([
      expect.stringMatching(new RegExp(`servers.${server}: .*${reason}`)),
    ]);
  }
});

test('the agents file may name variables, with defaults', () => {
  const agents = minimal.replace('127.0.0.1:3002', '127.0.0.1:${TRACKER_PORT:-3002}');
  expect(load({}, agents).servers.get('tracker')?.url).toBe('http://127.0.0.1:3002/mcp');
  expect(load({ TRACKER_PORT: '4002' }, agents).servers.get('tracker')?.url).toBe(
    'http://127.0.0.1:4002/mcp',
  );
  expect(problemsOf({}, minimal.replace('3002', '${TRACKER_PORT}')).join()).toContain(
    'servers.tracker.url: the variable TRACKER_PORT is not set',
  );
});

test('a missing or broken agents file is named', () => {
  expect(problemsOf({ INTERLUDE_CONFIG: 'nowhere.yaml' }).join()).toMatch(/nowhere\.yaml.*INTERLUDE_CONFIG/);
  expect(problemsOf({}, 'agents: [').join()).toContain('agents.yaml');
});

test('the documentation names every variable, and no other', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const table = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = table.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name),
  );
  expect(named.toSorted()).toEqual(environmentVariables.toSorted());
});

test('an address in front is only believed when it is named', () => {
  expect(load({}).http.trustProxy).toBe(false);
  expect(load({ TRUST_PROXY: '10.0.0.0/8, 127.0.0.1' }).http.trustProxy).toEqual(['10.0.0.0/8', '127.0.0.1']);
  const networks = ['::1', 'fd00::/8', 'loopback'];
  expect(load({ TRUST_PROXY: networks.join() }).http.trustProxy).toEqual(networks);
});

test('proxies are named, or all are believed; what would stop the start is a problem', () => {
  expect(load({ TRUST_PROXY: 'true' }).http.trustProxy).toBe(true);
  expect(load({ TRUST_PROXY: 'False' }).http.trustProxy).toBe(false);
  for (const wrong of ['nginx', '1', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/'])
    expect(problemsOf({ TRUST_PROXY: wrong }).join()).toMatch(/^TRUST_PROXY: write addresses/);
});

test('Temporal may be at an IPv6 address', () => {
  const keys = { INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=` };
  const address = (text: string) => load({ TEMPORAL_ADDRESS: text, ...keys }).temporal.address;
  expect(address('[::1]:7233')).toBe('[::1]:7233');
  expect(address('[2001:db8::7]:7233')).toBe('[2001:db8::7]:7233');
  for (const wrong of ['::1:7233', '[::1]', '[temporal]:7233', 'temporal'])
    expect(problemsOf({ TEMPORAL_ADDRESS: wrong }).join('\n')).toContain('TEMPORAL_ADDRESS: write host:port');
});

test.each<[string, Record<string, string>, boolean]>([
  ['nothing', {}, false],
  ['an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  ['an endpoint of traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  ['an exporter', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['none', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
  [
    'that the SDK is off',
    { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
    false,
  ],
])('whether traces are exported, by what is set: %s', (_, env, traces) => {
  expect(load(env).telemetry).toMatchObject({ traces, trustsCallers: false });
});

test('an exporter that is not there is refused, and not left out in silence', () => {
  expect(problemsOf({ OTEL_TRACES_EXPORTER: 'zipkin' }).join()).toContain('OTEL_TRACES_EXPORTER: ');
  expect(problemsOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).join()).toMatch(
    /^OTEL_EXPORTER_OTLP_PROTOCOL: .*http\/protobuf/,
  );
});

test('pages may only call the API when their origin is named, as browsers write it', () => {
  expect(load({}).http.corsOrigins).toEqual([]);
  expect(load({ CORS_ORIGINS: 'https://app.example, http://localhost:5173' }).http.corsOrigins).toEqual([
    'https://app.example',
    'http://localhost:5173',
  ]);
  for (const wrong of ['*', 'null', 'app.example', 'https://app.example/', 'https://app.example:443', ','])
    expect(problemsOf({ CORS_ORIGINS: wrong }).join()).toMatch(/^CORS_ORIGINS: write the origins/);
});

test('credentials in a server address are refused, and the remedy is named', () => {
  const agents = minimal.replace('http://127', 'http://user:secret@127');
  expect(problemsOf({}, agents).join()).toContain('headersEnv');
  expect(problemsOf({}, agents).join()).not.toContain('secret');
});

describe('an agent’s tools in TypeScript', () => {
  const withTools = (tools: string) => `
providers: { scripted: { script: ./script.ts } }
agents: { assistant: { model: scripted, tools: ${tools} } }
`;

  test('are in a folder beside the file', () => {
    const { agents, configDir } = load({}, withTools('{ folder: ., allow: [delete_page] }'));
    expect(agents.get('assistant')?.tools).toEqual({ folder: configDir, allow: ['delete_page'] });
  });

  test.each([
    ['{ folder: ./nowhere }', 'agents.assistant.tools.folder: there is no folder'],
    ['{ folder: ., allow: [] }', 'agents.assistant.tools.allow: '],
    ['{ folders: . }', 'agents.assistant.tools.folders: unknown (did you mean folder?)'],
    [
      '{ folder: ., completionSecretEnv: PAGES_SECRET }',
      'agents.assistant.tools.completionSecretEnv: the variable PAGES_SECRET is not set',
    ],
  ])('%s is refused', (tools, words) => {
    expect(problemsOf({}, withTools(tools)).join('\n')).toContain(words);
  });
});

describe('a server that is a command', () => {
  const withServer = (server: string) => `
providers: { scripted: { script: ./script.ts } }
servers: { files: ${server} }
agents: { assistant: { model: scripted, servers: [files] } }
`;

  test('is started with what it was given and what any program needs, and with nothing of ours', () => {
    const env = { PATH: '/bin', HOME: '/home/us', FILES_TOKEN: 't', INTERLUDE_KEYS: `k1:${'A'.repeat(43)}=` };
    const server = '{ command: [npx, -y, "files@1"], env: { LOG: "1" }, envFrom: { TOKEN: FILES_TOKEN } }';
    const { servers, configDir } = load(env, withServer(server));
    expect(servers.get('files')).toMatchObject({
      title: 'files',
      credentialScope: 'none',
      process: {
        command: 'npx',
        args: ['-y', 'files@1'],
        cwd: configDir,
        env: { LOG: '1', TOKEN: 't', PATH: '/bin', HOME: '/home/us' },
      },
    });
    expect(JSON.stringify([...servers])).not.toContain('AAAA');
  });

  test('gets out over the proxy that we go out over, and trusts whom we trust', () => {
    const env = {
      HTTPS_PROXY: 'http://proxy:3128',
      no_proxy: 'localhost',
      SSL_CERT_FILE: '/etc/company.pem',
      NODE_EXTRA_CA_CERTS: '/etc/company.pem',
    };
    const { servers } = load(env, withServer('{ command: [f], env: { SSL_CERT_FILE: /own.pem } }'));
    expect(servers.get('files')?.process?.env).toEqual({ ...env, SSL_CERT_FILE: '/own.pem' });
  });

  test.each([
    ['{}', 'servers.files.url: write the url of the server, or a command'],
    ['{ url: "http://f/mcp", command: [f] }', 'servers.files.command: a server has a url or a command'],
    ['{ command: [] }', 'servers.files.command: '],
    ['{ command: "npx -y files" }', 'servers.files.command: '],
    [
      '{ command: [f], credentialScope: user }',
      'servers.files.credentialScope: a server with a command knows no',
    ],
    ['{ command: [f], headers: { a: b } }', 'servers.files.headers: only a server with a url has this'],
    ['{ command: [f], oauth: { clientId: c } }', 'servers.files.oauth: only a server with a url has this'],
    [
      '{ url: "https://f.example/mcp", oauth: { clientId: c } }',
      'servers.files.oauth: write under issuer at which sign-in server this client is registered',
    ],
    [
      '{ url: "https://f.example/mcp", oauth: { issuer: "https://i.example", clientSecretEnv: PATH } }',
      'servers.files.oauth: a secret belongs to a client; write its id under clientId',
    ],
    [
      '{ url: "https://f.example/mcp", oauth: { pkce: S256 } }',
      'servers.files.oauth: write under issuer which sign-in server supports PKCE without saying so',
    ],
    ['{ url: "https://f.example/mcp", oauth: { pkce: plain } }', 'servers.files.oauth.pkce: write S256'],
    [
      '{ url: "https://f.example/mcp", oauth: { resource: "https://f.example" } }',
      'servers.files.oauth.resource: write false to leave the parameter "resource" out',
    ],
    ['{ command: [f], local: true }', 'servers.files.local: only a server with a url has this'],
    ['{ url: "http://f/mcp", cwd: . }', 'servers.files.cwd: only a server with a command has this'],
    ['{ url: "http://f/mcp", env: { A: b } }', 'servers.files.env: only a server with a command has this'],
    ['{ url: "http://f/mcp", uid: 5, gid: 5 }', 'servers.files.uid: only a server with a command has this'],
    ['{ command: [x], uid: 5 }', 'servers.files.uid: write both, uid and gid, or neither'],
    [
      '{ command: [x], uid: 0, gid: 5 }',
      'servers.files.uid: write the number of a user or group other than root',
    ],
    ['{ url: "http://f/mcp", picture: ./no.svg }', 'servers.files.picture: there is no file'],
    ['{ url: "http://f/mcp", picture: ./agents.yaml }', 'picture: write a file that ends in .png, .jpg'],
    ['{ url: "http://f/mcp", colour: teal }', "servers.files.colour: write it like '#2f6f5e'"],
    ['{ command: [f], cwd: ./nowhere }', 'servers.files.cwd: there is no folder'],
    ['{ command: [f], envFrom: { A: NO_SUCH } }', 'servers.files.envFrom.A: the variable NO_SUCH is not set'],
  ])('%s is refused: %s', (server, problem) => {
    expect(problemsOf({}, withServer(server)).join('\n')).toContain(problem);
  });

  test.each([
    ['client_id: other', 'client_id: this parameter cannot be set here: write oauth.clientId; remove it'],
    ['scope: all', 'scope: this parameter cannot be set here: write oauth.scopes; remove it'],
    [
      'resource: https://x.example',
      'resource: this parameter cannot be set here: write oauth.resource: false',
    ],
    ['redirect_uri: https://x.example', 'redirect_uri: this parameter cannot be set here'],
    ['state: mine', 'state: this parameter cannot be set here'],
    ['code_challenge: mine', 'code_challenge: this parameter cannot be set here'],
    ['code_challenge_method: plain', 'code_challenge_method: this parameter cannot be set here'],
    ['response_type: token', 'response_type: this parameter cannot be set here'],
    ['response_mode: form_post', 'response_mode: this parameter cannot be set here'],
    ['request_uri: https://x.example', 'request_uri: this parameter cannot be set here'],
    ['Client_ID: other', 'Client_ID: this parameter cannot be set here'],
    ['"two words": x', 'write the name of a parameter'],
    ['max_age: 0', 'max_age: write a text; put numbers and words like true into quotation marks'],
  ])('of an authorization request, %s is refused', (param, problem) => {
    const file = withServer(`{ url: "https://f.example/mcp", oauth: { authorizationParams: { ${param} } } }`);
    const problems = problemsOf({}, file).join('\n');
    expect(problems).toContain('servers.files.oauth.authorizationParams');
    expect(problems).toContain(problem);
  });

  test('what real sign-in servers need is read', () => {
    const oauth =
      '{ issuer: "https://i.example", authorizationParams: { access_type: offline, prompt: consent }, resource: false, scopeInRenewals: true, pkce: S256 }';
    const { servers } = load({}, withServer(`{ url: "https://f.example/mcp", oauth: ${oauth} }`));
    expect(servers.get('files')?.oauth).toEqual({
      issuer: 'https://i.example',
      authorizationParams: { access_type: 'offline', prompt: 'consent' },
      resource: false,
      scopeInRenewals: true,
      pkce: 'S256',
    });
  });
});

test('metrics are off until an exporter is named or a collector is given', () => {
  const metricsOf = (env: Record<string, string>) => load(env).telemetry.metrics;
  expect(metricsOf({})).toBeUndefined();
  expect(metricsOf({ INTERNAL_PORT: '3100' })).toBeUndefined();
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  const both = { OTEL_METRICS_EXPORTER: 'prometheus, otlp', INTERNAL_PORT: '3100' };
  const exportIntervalMs = 60_000;
  expect(metricsOf(collector)).toEqual({ prometheus: false, otlp: true, exportIntervalMs });
  expect(metricsOf(both)).toEqual({ prometheus: true, otlp: true, exportIntervalMs });
  expect(metricsOf({ ...collector, OTEL_METRICS_EXPORTER: 'none' })).toBeUndefined();
  expect(metricsOf({ ...both, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
});

test('what metrics cannot do is said at start', () => {
  expect(problemsOf({ OTEL_METRICS_EXPORTER: 'console' }).join()).toContain('write otlp, prometheus');
  expect(problemsOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).join()).toContain('write http/protobuf');
});
