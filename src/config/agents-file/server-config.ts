/**
 * What a turn calls, an MCP server or a remote agent, as the program works with it: values that stand in the environment are
 * filled in, paths are absolute.
 */
import path from 'node:path';
import { inheritedVariables, variablesOfUser } from './inherited-variables.ts';
import type { RemoteAgentEntry } from './remote-agent-entry.ts';
import type { ServerEntry } from './server-entry.ts';

/** How a server of ours is started. `env` is all it gets to see. */
export interface ServerProcess {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Another user than the worker's. */
  runAs?: { uid: number; gid: number };
}

/** What only a remote agent has, which speaks A2A instead of MCP. */
export interface RemoteAgent {
  /** Address of its card. */
  card: string;
  /** The operator's words, for models. */
  description: string;
  /** An address that the operator vouches for, beside those on the card's host. */
  endpoint?: string;
}

type OfProcess = 'command' | 'cwd' | 'uid' | 'gid' | 'env' | 'envFrom';

export type ServerConfig = Omit<ServerEntry, OfProcess | 'url' | 'credentialScope'> & {
  name: string;
  title: string;
  /** Of a process of ours: `stdio://<name>`. Of a remote agent: what its card is about. */
  url: string;
  credentialScope: 'user' | 'project' | 'none';
  process?: ServerProcess;
  agent?: RemoteAgent;
};

/** Entry of the file → what the program works with. Values that stand in the environment are filled in. */
export function toServerConfig(
  name: string,
  { command, cwd = '.', uid, gid, env = {}, envFrom = {}, headersEnv, ...entry }: ServerEntry,
  { variables, folder }: { variables: Record<string, string>; folder: string },
): ServerConfig {
  const filled = (from: Record<string, string>) => valuesOf(from, variables);
  const common = { ...entry, name, title: entry.title ?? name, headersEnv };
  const [program, ...args] = command ?? [];
  if (program === undefined) {
    const { url = '', credentialScope = 'user' } = entry;
    return { ...common, url, credentialScope, headers: { ...entry.headers, ...filled(headersEnv) } };
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
      env: { ...Object.fromEntries(inherited), ...env, ...filled(envFrom) } as Record<string, string>,
      ...(runAs && { runAs }),
    },
  };
}

export function toRemoteAgent(
  name: string,
  { card, description, endpoint, credentialScope = 'user', ...entry }: RemoteAgentEntry,
  variables: Record<string, string>,
): ServerConfig {
  return {
    ...entry,
    name,
    title: entry.title ?? name,
    url: card.replace(/\.well-known\/[^/?#]*$/, ''),
    credentialScope,
    headers: { ...entry.headers, ...valuesOf(entry.headersEnv, variables) },
    agent: { card, description, ...(endpoint !== undefined && { endpoint }) },
  };
}

/** Name → the value of the variable that is written there. */
function valuesOf(from: Record<string, string>, variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(from).map(([key, name]) => [key, variables[name] ?? '']));
}
