/** Reaches one server of the agents file: its sign-in, its era, its tools and what their schemas become. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { createDiscovery } from '../../credentials/mcp-oauth/discovery.ts';
import { createOutbound } from '../../credentials/mcp-oauth/outbound.ts';
import type { Records } from '../../credentials/mcp-oauth/records.ts';
import { clientKind } from '../../credentials/mcp-oauth/registration.ts';
import { createTrustedIssuers } from '../../credentials/mcp-oauth/trusted-issuers.ts';
import { CredentialStoreError } from '../../credentials/store-error.ts';
import { fitSchema } from '../../models/tool-schema/fit-schema.ts';
import { providersOf } from '../../models/tool-schema/provider-rules.ts';
import { createCards } from '../../remote/a2a/card.ts';
import { canPush } from '../../remote/mcp/connect.ts';
import { readTool } from '../../remote/mcp/read-tool.ts';
import { fixedEra } from '../../remote/mcp/server-eras.ts';
import { accountFiles, accountName } from '../try/sign-in/account-file.ts';
import { accountAt } from '../try/sign-in/server-account.ts';
import { connectServer } from '../try/connect-server.ts';
import type { Connected, ConnectOptions } from '../try/connect-server.ts';
import { TryError } from '../try/exit-codes.ts';
import { listTools } from '../try/list-tools.ts';
import type { ListedTool } from '../try/list-tools.ts';
import { targetInWords } from '../try/target.ts';
import type { Target } from '../try/target.ts';
import type { ServerReport, SignIn, ToolReport } from './report.ts';

export interface Checking {
  config: Config;
  /** By server. */
  tokens: ReadonlyMap<string, string>;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

export async function checkServer(server: ServerConfig, checking: Checking): Promise<ServerReport> {
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
  const records = recordsInMemory();
  const discovery = createDiscovery({
    records,
    outbound: createOutbound({}),
    trustedIssuers: createTrustedIssuers({ records, servers: config.servers }),
    now: Date.now,
    onBroken: (_, documents) => void broken.push(...documents),
  });
  try {
    const needs = await discovery.needsOf(server);
    if (needs.kind === 'nothing') return { kind: 'none' };
    const { authorizationServer, scopes } = needs;
    return {
      kind: 'oauth',
      issuer: authorizationServer.issuer,
      client: clientKind(server, authorizationServer, config.http.publicUrl),
      scopes: server.oauth?.scopes ?? scopes,
    };
  } catch (error) {
    if (error instanceof CredentialStoreError) return { kind: 'failed', why: error.forOperator };
    throw error;
  }
}

/** The check learns nothing from earlier ones, and leaves nothing behind. */
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

/** Nothing is sent to a server that wants an account without one. */
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
    if (account?.isNeeded()) return { problem: account.needed().message };
    if (error instanceof TryError) return { problem: error.message };
    throw error;
  } finally {
    await connected?.close().catch(() => undefined);
  }
}

/** Of a server that speaks both eras; its calls are made in the old one then, as remote/mcp/server-eras.ts says. */
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
