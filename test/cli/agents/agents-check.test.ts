/** `interlude agents check` with real servers: what they offer, how one signs in there, and what is wrong with them. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { checkAgents } from '../../../src/cli/agents/check-agents.ts';
import { agents } from '../../../src/cli/commands/check.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { issuerDocument, json, startServer } from '../../credentials/guarded-server.ts';
import { freePort } from '../../free-port.ts';
import { startMcpServer } from '../../servers/mcp-server.ts';
import { answer, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import { testFolder } from '../../test-folder.ts';

type Values = Parameters<typeof checkAgents>[1];

/** Runs the command on this agents file, in JSON as in YAML. */
async function agentsCheck(file: object, ...words: string[]) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'interlude-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = path.join(folder, 'agents.yaml');
  await writeFile(config, JSON.stringify(file));
  const check = agents().commands.find((command) => command.name() === 'check');
  check
    ?.exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parseOptions(words);
  const env = {
    INTERLUDE_CONFIG: config,
    OPENAI_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY: 'sk-2',
    OLD_SECRET: 'old',
    NEW_SECRET: 'new',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    PATH: process.env['PATH'],
  };
  let output = '';
  const code = await checkAgents(loadConfig(env, folder), check?.opts() as unknown as Values, {
    env,
    signal: new AbortController().signal,
    print: (text) => void (output += stripVTControlCharacters(text)),
  });
  return { code, output };
}

async function mcpServer(tools: object[], era: 'modern' | 'legacy' = 'legacy') {
  const page = { tools, ...(era === 'modern' && { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }) };
  const server = await startRawMcpServer({
    era,
    on: { 'tools/list': (message, response) => answer(message, response, page) },
  });
  onTestFinished(() => server.stop());
  return server;
}

const text = { type: 'string' };
const sound = { name: 'list', inputSchema: { type: 'object', properties: { a: text } } };
const bracketed = { name: 'search', inputSchema: { type: 'object', properties: { 'filter[name]': text } } };
const loop = { $defs: { L: { type: 'object', properties: { l: { $ref: '#/$defs/L' } } } } };
const open = { credentialScope: 'none' };

test.each([
  ['modern', 'server · MCP 2026-07-28'],
  ['legacy', 'raw 1 · MCP 2025-11-25'],
] as const)(
  'says of a %s server what it is, and of each tool what a model would get',
  async (era, itself) => {
    const tools = [
      sound,
      bracketed,
      { name: 'rows', inputSchema: { type: 'array' } },
      { name: 'tree', inputSchema: { ...loop, type: 'object', properties: { root: { $ref: '#/$defs/L' } } } },
    ];
    const shop = await mcpServer(tools, era);
    const { code, output } = await agentsCheck({
      servers: { shop: { url: shop.config.url, ...open } },
      agents: {
        helper: { model: 'anthropic:claude', servers: ['shop'] },
        clerk: { model: 'openai:gpt', servers: [{ name: 'shop', tools: ['list', 'lost'] }] },
      },
    });
    expect(output).toBe(`
  shop  ${itself} · ${shop.config.url}
    ✓ 4 tools, 1 with another schema, 1 left out
      ✗ rows    left out: its inputSchema is of type "array", and arguments are an object
      ~ search  filter[name] is offered as filter_name (anthropic:claude)

  helper  anthropic:claude  3 tools from 1 server
  clerk   openai:gpt        1 tool from 1 server
    ✗ shop has no tool "lost" (did you mean list?)

  2 errors · 1 server, 2 agents

`);
    expect(code).toBe(1);
    expect(shop.count('tools/call')).toBe(0);
  },
);

test('counts the tools of servers and those of the folder apart, and says what is wrong with the folder', async () => {
  const shop = await mcpServer([sound]);
  const folder = path.resolve(import.meta.dirname, '../../fixtures/operations-tools');
  const servers = {
    shop: { url: shop.config.url, ...open },
    other: { url: 'http://127.0.0.1:1/mcp', store: 'vault' },
  };
  const model = 'openai:gpt';
  const agents = {
    both: { model, servers: ['shop', 'other'], tools: { folder } },
    own: { model, tools: { folder } },
    bare: { model },
    wrong: { model, tools: { folder, allow: ['sty'] } },
  };
  const { code, output } = await agentsCheck({ servers, agents });
  expect(output.slice(output.indexOf('  both ')))
    .toBe(`  both   openai:gpt  at least 1 tool from 2 servers, 1 tool of its own
  own    openai:gpt  1 tool of its own
  bare   openai:gpt  no tools
  wrong  openai:gpt  no tools
    ✗ agents.wrong.tools.allow: there is no tool "sty" in the folder (did you mean stay?); it has stay

  1 error · 2 servers, 4 agents

`);
  expect(code).toBe(1);
});

test('a tool that two folders expose is a mistake of the agent that is named last', async () => {
  const folders = ['one', 'two'].map((answer) => {
    const folder = testFolder();
    const tool = `defineTool({ name: 'stay', description: 'Stays.', expose: true, input: z.object({}), execute: () => '${answer}' })`;
    writeFileSync(
      path.join(folder, 'stay.ts'),
      `import { defineTool } from '@interlude-ai/tools';\nimport { z } from 'zod';\nexport default ${tool};\n`,
    );
    return folder;
  });
  const agents = Object.fromEntries(
    folders.map((folder, index) => [`agent${index}`, { model: 'openai:gpt', tools: { folder } }]),
  );
  const { code, output } = await agentsCheck({ agents });
  expect(output).toContain(`
  agent0  openai:gpt  1 tool of its own
  agent1  openai:gpt  1 tool of its own
    ✗ agents.agent1.tools: stay is exposed, and so is another tool of this name that agent0 has; rename one
`);
  expect(code).toBe(1);
});

test('says in which version a server of both is called, unless the agents file does', async () => {
  const build = () => {
    const server = new McpServer({ name: 'both', version: '1' });
    server.registerTool('list', {}, () => ({ content: [] }));
    return server;
  };
  const both = await startMcpServer({ era: 'both', build });
  onTestFinished(() => both.stop());
  const { url } = both.config;
  const { output } = await agentsCheck({
    servers: {
      auto: { url, ...open },
      new: { url, ...open, era: '2026-07-28' },
      old: { url, ...open, era: '2025-11-25' },
    },
    agents: { helper: { model: 'openai:gpt', servers: ['auto', 'new', 'old'] } },
  });
  expect(output.match(/^ {2}(auto|new|old) .*(?= · http)/gm)).toEqual([
    '  auto  both 1 · MCP 2026-07-28, called in 2025-11-25',
    '  new  both 1 · MCP 2026-07-28',
    '  old  both 1 · MCP 2025-11-25',
  ]);
});

test('names the server that cannot be reached, and the program that cannot be started', async () => {
  const port = await freePort();
  const { code, output } = await agentsCheck({
    servers: {
      gone: { url: `http://127.0.0.1:${port}/mcp`, ...open },
      local: { command: ['no-such-program'] },
    },
    agents: { helper: { model: 'openai:gpt', servers: ['gone', 'local'] } },
  });
  expect(code).toBe(1);
  expect(output).toContain(`✗ Nothing answers at http://127.0.0.1:${port}/mcp (ECONNREFUSED).`);
  expect(output).toContain('✗ no-such-program cannot be started: there is no such command.');
});

test('says how one signs in, which documents are broken, and asks nothing without an account', async () => {
  const asked: string[] = [];
  const origin: string = await startServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return response.writeHead(500).end();
      case '/.well-known/oauth-protected-resource':
        return json(response, {
          resource: origin,
          authorization_servers: [origin],
          scopes_supported: ['read'],
        });
      case '/.well-known/oauth-authorization-server':
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>App</p>');
      case '/.well-known/openid-configuration':
        return json(
          response,
          issuerDocument(origin, {
            registration_endpoint: `${origin}/register`,
            jwks_uri: `${origin}/jwks`,
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          }),
        );
      default:
        return response.writeHead(404).end();
    }
  });
  const file = {
    servers: { tracker: { url: `${origin}/mcp`, store: 'oauth' } },
    agents: { helper: { model: 'openai:gpt', servers: ['tracker'] } },
  };
  const { code, output } = await agentsCheck(file);
  expect(output).toBe(`
  tracker  ${origin}/mcp
    ✓ sign-in at ${origin}, where we register ourselves, scopes read
    ! ${origin}/.well-known/oauth-protected-resource/mcp answers with 500; another place was used
    ! ${origin}/.well-known/oauth-authorization-server is a page and no JSON; another place was used
      its tools are an account's: --token tracker=… or npx interlude try ${origin}/mcp to sign in

  helper  openai:gpt  1 server, whose tools are not listed

  2 warnings · 1 server, 1 agent

`);
  expect(code).toBe(0);
  expect(asked).not.toContainEqual(expect.stringMatching(/^POST/));
});

test('says why nobody can sign in', async () => {
  const origin: string = await startServer((request, response) => {
    if (request.method === 'POST') return response.writeHead(401).end();
    return response.writeHead(request.url?.includes('authorization-server') ? 500 : 404).end();
  });
  const file = {
    servers: { tracker: { url: `${origin}/mcp`, store: 'oauth' } },
    agents: { helper: { model: 'openai:gpt', servers: ['tracker'] } },
  };
  const { code, output } = await agentsCheck(file);
  expect(code).toBe(1);
  expect(output).toContain(`${origin}/.well-known/oauth-authorization-server answers with 500`);
});

test('says that the sign-in server refuses the client of the agents file', async () => {
  const asked: boolean[] = [];
  const origin: string = await startServer((request, response, body) => {
    if (request.url === '/.well-known/oauth-protected-resource/mcp')
      return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (request.url === '/.well-known/oauth-authorization-server')
      return json(
        response,
        issuerDocument(origin, { token_endpoint_auth_methods_supported: ['client_secret_post'] }),
      );
    if (request.url !== '/token') return response.writeHead(404).end();
    const isRight = new URLSearchParams(body).get('client_secret') === 'new';
    asked.push(isRight);
    return isRight
      ? json(response, { error: 'invalid_grant' }, 400)
      : json(response, { error: 'invalid_client' }, 401);
  });
  const check = (clientSecretEnv: string) =>
    agentsCheck({
      servers: {
        tracker: { url: `${origin}/mcp`, oauth: { issuer: origin, clientId: 'ours', clientSecretEnv } },
      },
      agents: { helper: { model: 'openai:gpt', servers: ['tracker'] } },
    });
  const signIn = `sign-in at ${origin}, as the client in the agents file`;
  const refused = await check('OLD_SECRET');
  expect(refused.output).toContain(`    ✗ ${signIn}, which it refuses (invalid_client)\n`);
  expect(refused.code).toBe(1);
  const accepted = await check('NEW_SECRET');
  expect(accepted.output).toContain(`    ✓ ${signIn}\n`);
  expect(accepted.code).toBe(0);
  expect(asked).toEqual([false, true]);
});

test('says that a server without accounts refuses the key of the agents file', async () => {
  const origin: string = await startServer((_, response) => response.writeHead(401).end());
  const { code, output } = await agentsCheck({
    servers: { notes: { url: `${origin}/mcp`, credentialScope: 'none' } },
    agents: { helper: { model: 'openai:gpt', servers: ['notes'] } },
  });
  expect(code).toBe(1);
  expect(output).toContain(`${origin}/mcp refuses this service. Check its headersEnv`);
});

test('lists the tools of an account with a token, and gives programs one object', async () => {
  const shop = await mcpServer([sound, bracketed]);
  const { code, output } = await agentsCheck(
    {
      servers: {
        shop: { url: shop.config.url, store: 'vault' },
        other: { url: 'http://127.0.0.1:1/mcp', store: 'vault' },
      },
      agents: { helper: { model: 'openai-compatible:llama', servers: ['shop', 'other'] } },
      providers: { 'openai-compatible': { baseURL: 'http://127.0.0.1:1/v1' } },
    },
    '--json',
    '--server',
    'shop',
    '--token',
    'shop=secret-token',
  );
  expect(JSON.parse(output)).toEqual({
    servers: [
      {
        name: 'shop',
        title: 'shop',
        place: shop.config.url,
        protocol: 'MCP',
        signIn: { kind: 'vault' },
        brokenDocuments: [],
        answered: { name: 'raw', version: '1', era: 'legacy', protocolVersion: '2025-11-25' },
        tools: [
          { name: 'list', models: [] },
          {
            name: 'search',
            models: [
              { model: 'openai-compatible:llama', converted: ['filter[name] is offered as filter_name'] },
            ],
          },
        ],
      },
    ],
    agents: [
      {
        name: 'helper',
        model: 'openai-compatible:llama',
        servers: 2,
        serversNotListed: 1,
        tools: 2,
        ownTools: 0,
        problems: [],
      },
    ],
    errors: 0,
    warnings: 0,
    exitCode: 0,
  });
  expect(code).toBe(0);
  expect(output).not.toContain('secret-token');
});

test.each([
  [['--server', 'sop'], /no server "sop" \(did you mean shop\?\)/],
  [['--token', 'shop'], /--token is <server>=<token>/],
  [['--timeout', '15'], /'--timeout <duration>' argument '15' is invalid/],
])('%j is a wrong command line', async (words, message) => {
  const file = {
    servers: { shop: { url: 'http://127.0.0.1:1/mcp', ...open } },
    agents: { helper: { model: 'openai:gpt', servers: ['shop'] } },
  };
  await expect(agentsCheck(file, ...words)).rejects.toMatchObject({
    name: expect.stringMatching(/^(?:UsageError|CommanderError)$/),
    message: expect.stringMatching(message),
  });
});
