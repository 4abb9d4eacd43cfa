/**
 * `interlude agents check`: reaches each server of the agents file (sign-in, protocol era, tools, their schemas), then checks each
 * agent.
 */
import type { AgentConfig, Config, ServerConfig } from '../../platform/config/config.ts';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import { needsOf } from '../../credentials/mcp-oauth/discovery.ts';
import { createOutbound } from '../../credentials/mcp-oauth/outbound.ts';
import type { Records } from '../../credentials/mcp-oauth/records.ts';
import { clientKind } from '../../credentials/mcp-oauth/registration.ts';
import { refusalOfClient } from '../../credentials/mcp-oauth/sign-in.ts';
import { CredentialStoreError } from '../../credentials/credential-store.ts';
import { createModels } from '../../models/provider.ts';
import { fitSchema } from '../../models/tool-schema/fit-schema.ts';
import { mostToolsOf, providersOf } from '../../models/tool-schema/provider-rules.ts';
import { createCards } from '../../remote/a2a/connect.ts';
import { canPush } from '../../remote/mcp/connect.ts';
import { readTool } from '../../remote/mcp/list-tools.ts';
import { fixedEra } from '../../remote/mcp/server-eras.ts';
import { examineAgentBundles } from '../../platform/tool-bundles/open-agent-bundles.ts';
import type { AgentBundles } from '../../platform/tool-bundles/open-agent-bundles.ts';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { toJsonText } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { connectServer } from '@interlude-ai/kit/try/connect-server.ts';
import type { Connected, ConnectOptions } from '@interlude-ai/kit/try/connect-server.ts';
import { TryError } from '@interlude-ai/kit/try/exit-codes.ts';
import { listTools } from '@interlude-ai/kit/try/list-tools.ts';
import type { ListedTool } from '@interlude-ai/kit/try/list-tools.ts';
import { targetInWords } from '@interlude-ai/kit/try/read-connection.ts';
import type { Target } from '@interlude-ai/kit/try/read-connection.ts';
import { accountAt, accountFiles, accountName } from '@interlude-ai/kit/try/server-account.ts';
import { countsOf, exitCodeOf, reportLines } from './agents-report.ts';
import type { AgentReport, Report, ServerReport, SignIn, ToolReport } from './agents-report.ts';

interface Values {
  server?: string[] | undefined;
  token?: string[] | undefined;
  /** In milliseconds. */
  timeout: number;
  json?: boolean | undefined;
}

type Surroundings = { env: NodeJS.ProcessEnv; signal: AbortSignal };

export async function checkAgents(
  config: Config,
  values: Values,
  { print, ...surroundings }: Surroundings & { print(text: string): void },
): Promise<number> {
  const report = await examineAgents(config, values, surroundings, await examineAgentBundles(config));
  const exitCode = exitCodeOf(report);
  print(
    values.json === true
      ? `${toJsonText({ ...report, ...countsOf(report), exitCode }, 2)}\n`
      : `${reportLines(report).join('\n')}\n`,
  );
  return exitCode;
}

export async function examineAgents(
  config: Config,
  { server: named = [], token: given = [], timeout: timeoutMs }: Values,
  { env, signal }: Surroundings,
  opened: AgentBundles,
): Promise<Report> {
  const known = [...config.servers.keys()];
  const tokens = new Map(given.map((text) => tokenOf(text)));
  for (const name of [...named, ...tokens.keys()])
    if (!config.servers.has(name))
      throw new UsageError(`There is no server "${name}"${didYouMean(name, known)}.`);
  const wanted = [...config.servers.values()].filter(
    ({ name }) => named.length === 0 || named.includes(name),
  );
  const servers = await Promise.all(
    wanted.map((server) => checkServer(server, { config, tokens, timeoutMs, env, signal })),
  );
  const agents = await Promise.all(
    [...config.agents.values()].map((agent) => checkAgent(config, agent, servers, opened)),
  );
  return { servers, agents };
}

function tokenOf(text: string): [string, string] {
  const [, name = '', token = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (token === '') throw new UsageError('--token is <server>=<token>.');
  return [name, token];
}

async function checkAgent(
  config: Config,
  agent: AgentConfig,
  servers: ServerReport[],
  opened: AgentBundles,
): Promise<AgentReport> {
  const { name, model } = agent;
  const problems: string[] = [];
  await createModels(config)(model).catch((error: unknown) =>
    problems.push(error instanceof Error ? error.message : String(error)),
  );
  problems.push(...opened.problems.flatMap((one) => (one.agent === name ? one.text : [])));
  const { bundle, allow } = opened.bundles.get(name) ?? {};
  const ownTools = (bundle?.manifest ?? []).filter((tool) => allow?.includes(tool.name) ?? true).length;
  let tools = 0;
  let serversNotListed = 0;
  for (const use of agent.servers) {
    const listed = servers.find((server) => server.name === use.name)?.tools;
    if (!listed) {
      serversNotListed += 1;
      continue;
    }
    const there = listed.map((tool) => tool.name);
    const missing = (use.tools ?? []).filter((tool) => !there.includes(tool));
    for (const tool of missing) problems.push(`${use.name} has no tool "${tool}"${didYouMean(tool, there)}`);
    tools += listed.filter(
      (tool) =>
        (use.tools?.includes(tool.name) ?? true) &&
        tool.leftOut === undefined &&
        !tool.models.some((one) => one.model === model && one.leftOut !== undefined),
    ).length;
  }
  const most = mostToolsOf(model);
  const all = tools + ownTools;
  if (all > most)
    problems.push(`${all} tools are more than the ${most} that ${model} takes; list those it needs`);
  return { name, model, servers: agent.servers.length, serversNotListed, tools, ownTools, problems };
}

interface Checking {
  config: Config;
  /** By server. */
  tokens: ReadonlyMap<string, string>;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

async function checkServer(server: ServerConfig, checking: Checking): Promise<ServerReport> {
  const { name, title } = server;
  const target = targetOf(server);
  const brokenDocuments: string[] = [];
  const report: ServerReport = {
    name,
    title,
    place: targetInWords(target),
    protocol: server.agent ? 'A2A' : 'MCP',
    signIn: await signInOf(server, checking, brokenDocuments),
    brokenDocuments,
  };
  if (server.agent) return { ...report, ...(await readCard(server, checking)) };
  if (!canList(server, report.signIn, checking)) return report;
  return { ...report, ...(await listAt(server, target, checking)) };
}

function targetOf({ url, process, agent }: ServerConfig): Target {
  if (!process) return { kind: 'http', url: new URL(agent?.card ?? url) };
  const { command, args, cwd } = process;
  return { kind: 'process', command, args, cwd };
}

async function signInOf(server: ServerConfig, { config }: Checking, broken: string[]): Promise<SignIn> {
  if (server.process || server.credentialScope === 'none') return { kind: 'none' };
  if (server.store !== 'oauth') return { kind: server.store };
  const { publicUrl } = config.http;
  const discovery = {
    server,
    records: recordsInMemory(),
    outbound: createOutbound({}),
    servers: config.servers,
    now: Date.now,
    onBroken: (_: ServerConfig, documents: string[]) => void broken.push(...documents),
  };
  try {
    const needs = await needsOf(discovery);
    if (needs.kind === 'nothing') return { kind: 'none' };
    const { authorizationServer, scopes } = needs;
    const client = clientKind(server, authorizationServer, publicUrl);
    const refusal =
      client === 'configured'
        ? await refusalOfClient({ ...discovery, publicUrl, secret: config.secret }, needs)
        : null;
    return {
      kind: 'oauth',
      issuer: authorizationServer.issuer,
      client,
      ...(refusal !== null && { refusal }),
      scopes: server.oauth?.scopes ?? scopes,
    };
  } catch (error) {
    if (error instanceof CredentialStoreError) return { kind: 'failed', why: error.forOperator };
    throw error;
  }
}

/** The check uses no earlier results, and keeps none. */
function recordsInMemory(): Records {
  const kept = new Map<string, unknown>();
  return {
    recall: async (key, schema) => {
      const { data } = schema.safeParse(kept.get(key));
      return data === undefined ? null : { value: data, updatedAt: Date.now() };
    },
    remember: async (key, value) => void kept.set(key, value),
    forget: async (key) => void kept.delete(key),
  };
}

/** A server that needs an account gets no request without one. */
function canList(server: ServerConfig, signIn: SignIn, { tokens, env }: Checking): boolean {
  if (signIn.kind === 'none' || tokens.has(server.name)) return true;
  return accountFiles(env).read(accountName(new URL(server.url)))?.tokens !== undefined;
}

async function listAt(
  server: ServerConfig,
  target: Target,
  { config, tokens, timeoutMs, env, signal }: Checking,
): Promise<Partial<ServerReport>> {
  const headers = new Headers(server.headers);
  const token = tokens.get(server.name);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const nothing = () => undefined;
  const account = accountAt(target, headers, {
    kept: accountFiles(env),
    clientId: undefined,
    say: nothing,
    open: nothing,
    signal,
  });
  const options = {
    era: 'auto' as const,
    capabilities: { form: true, url: true },
    headers,
    account,
    timeoutMs,
    signal,
    env: server.process?.env ?? env,
  };
  const written = fixedEra(server);
  let connected: Connected | undefined;
  try {
    connected = await connectServer(target, { ...options, era: written ?? 'auto' });
    const { client, era, version, server: itself } = connected;
    const { tools } = await listTools(client, options);
    const isCalledInOldEra =
      written === undefined && era === 'modern' && (await canPushInOldEra(target, options));
    const answered = {
      name: itself.name,
      version: itself.version,
      era,
      protocolVersion: version,
      ...(isCalledInOldEra && { calledIn: '2025-11-25' as const }),
    };
    return { answered, tools: tools.map((tool) => checkTool(config, server, tool, era === 'modern')) };
  } catch (error) {
    signal.throwIfAborted();
    if (account?.isNeeded())
      return {
        problem:
          server.credentialScope === 'none' && token === undefined
            ? `${targetInWords(target)} refuses this service. Check its headersEnv and the key behind it.`
            : account.needed().message,
      };
    if (error instanceof TryError) return { problem: error.message };
    throw error;
  } finally {
    await connected?.close().catch(() => undefined);
  }
}

/** For a server that speaks both eras: its calls are made in the old one then, see remote/mcp/server-eras.ts. */
async function canPushInOldEra(target: Target, options: ConnectOptions): Promise<boolean> {
  const old = await connectServer(target, { ...options, era: 'legacy' }).catch(() => undefined);
  const isPushing = old !== undefined && canPush(old);
  await old?.close().catch(() => undefined);
  return isPushing;
}

function checkTool(
  config: Config,
  { name: server }: ServerConfig,
  tool: ListedTool,
  isModern: boolean,
): ToolReport {
  const { name } = tool;
  const read = readTool(tool, isModern);
  if ('reason' in read) return { name, leftOut: read.reason, models: [] };
  const agents = [...config.agents.values()].filter(({ servers }) =>
    servers.some((use) => use.name === server && (use.tools === undefined || use.tools.includes(name))),
  );
  const baseURL = config.providers['openai-compatible']?.baseURL;
  const models = [...new Set(agents.map(({ model }) => model))].flatMap((model): ToolReport['models'] => {
    const fitted = fitSchema(read.inputSchema, providersOf(model, baseURL));
    if (fitted.kind === 'unfit') return [{ model, leftOut: fitted.reason }];
    return fitted.changes.length > 0 ? [{ model, converted: fitted.changes }] : [];
  });
  return { name, models };
}

async function readCard(
  server: ServerConfig,
  { timeoutMs, signal }: Checking,
): Promise<Partial<ServerReport>> {
  const read = await createCards().of(server, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
  if (read.kind === 'unreachable') return { problem: read.message };
  const { name, version, supportedInterfaces } = read.card;
  return { answered: { name, version, protocolVersion: supportedInterfaces[0]?.protocolVersion ?? '' } };
}
