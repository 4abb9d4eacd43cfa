/**
 * A called server (MCP server or remote agent) as the program uses it: with values of the environment filled in and
 * absolute paths.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServerProcess } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { RemoteAgentEntry, ServerEntry } from './server-entry.ts';

/** Members of a remote agent, which speaks A2A instead of MCP. */
export interface RemoteAgent {
  /** The address of its card. */
  card: string;
  /** The operator's description, for models. */
  description: string;
  /** An address that the operator allows in addition to those on the card's host. */
  endpoint?: string;
}

type OfProcess = 'command' | 'cwd' | 'uid' | 'gid' | 'env' | 'envFrom';

export type ServerConfig = Omit<ServerEntry, OfProcess | 'url' | 'credentialScope'> & {
  name: string;
  title: string;
  /** A local process: `stdio://<name>`. A remote agent: the site of its card. */
  url: string;
  credentialScope: 'user' | 'project' | 'none';
  process?: ServerProcess;
  agent?: RemoteAgent;
};

interface Surroundings {
  variables: Record<string, string>;
  /** A variable's value now: files with secrets are read again when they change. */
  secret: (name: string) => string | undefined;
  folder: string;
}

/** Entry of the file → what the program uses. */
export function toServerConfig(
  name: string,
  { command, cwd = '.', uid, gid, env = {}, envFrom = {}, headersEnv, ...entry }: ServerEntry,
  { variables, secret, folder }: Surroundings,
): ServerConfig {
  const common = { ...entry, name, title: entry.title ?? name, headersEnv, ...pictureOf(entry, folder) };
  const [program, ...args] = command ?? [];
  if (program === undefined) {
    const { url = '', credentialScope = 'user' } = entry;
    return {
      ...common,
      url,
      credentialScope,
      get headers() {
        return { ...entry.headers, ...valuesOf(headersEnv, secret) };
      },
    };
  }
  const runAs = uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
  const inheritable = runAs
    ? inheritedVariables.filter((key) => !variablesOfUser.includes(key))
    : inheritedVariables;
  const inherited = inheritable.flatMap((key) =>
    variables[key] === undefined ? [] : [[key, variables[key]]],
  );
  return {
    ...common,
    url: `stdio://${name}`,
    credentialScope: 'none',
    process: {
      command: program,
      args,
      cwd: path.resolve(folder, cwd),
      env: { ...Object.fromEntries(inherited), ...env, ...valuesOf(envFrom, secret) } as Record<
        string,
        string
      >,
      ...(runAs && { runAs }),
    },
  };
}

export function toRemoteAgent(
  name: string,
  { card, description, endpoint, credentialScope = 'user', ...entry }: RemoteAgentEntry,
  { secret, folder }: Surroundings,
): ServerConfig {
  return {
    ...entry,
    ...pictureOf(entry, folder),
    name,
    title: entry.title ?? name,
    url: card.replace(/\.well-known\/[^/?#]*$/, ''),
    credentialScope,
    get headers() {
      return { ...entry.headers, ...valuesOf(entry.headersEnv, secret) };
    },
    agent: { card, description, ...(endpoint !== undefined && { endpoint }) },
  };
}

const mediaTypes: Record<string, string> = { jpg: 'jpeg', svg: 'svg+xml' };

/** The file as a data URL, so that people's browsers load nothing from elsewhere. */
function pictureOf({ picture }: { picture?: string | undefined }, folder: string): { picture?: string } {
  if (picture === undefined) return {};
  const ending = path.extname(picture).slice(1).toLowerCase();
  const bytes = readFileSync(path.resolve(folder, picture), 'base64');
  return { picture: `data:image/${mediaTypes[ending] ?? ending};base64,${bytes}` };
}

/** Name → the value of the variable with that name. */
function valuesOf(from: Record<string, string>, secret: Surroundings['secret']): Record<string, string> {
  return Object.fromEntries(Object.entries(from).map(([key, name]) => [key, secret(name) ?? '']));
}

/** Variables that every started program inherits: hardly any works without them. */
const basics = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

const onWindows = ['PATHEXT', 'SYSTEMROOT', 'COMSPEC', 'TEMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'];

/** For proxies, and for companies with their own certificate authority. A proxy's address may contain a password. */
const network = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY']
  .flatMap((name) => [name, name.toLowerCase()])
  .concat([
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'NODE_EXTRA_CA_CERTS',
    'NODE_USE_SYSTEM_CA',
    'NODE_USE_ENV_PROXY',
  ])
  .concat(['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']);

/** They describe the worker's user, so a program that runs as another user gets none of them. */
const variablesOfUser = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];

export const inheritedVariables = [...basics, ...onWindows, ...network];
