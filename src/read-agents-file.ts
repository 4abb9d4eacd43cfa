/** Reads and checks the agents file. Everything wrong with it is added to `problems`. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { agentsFileSchema } from './agents-file.ts';
import type { AgentsFile } from './agents-file.ts';

export function readAgentsFile(
  file: string,
  env: Record<string, string>,
  problems: string[],
): AgentsFile | null {
  let document: unknown;
  try {
    document = parseYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    const why =
      error instanceof YAMLParseError
        ? error.message
        : 'cannot be read; set INTERLUDE_CONFIG to your agents file';
    problems.push(`${file}: ${why}`);
    return null;
  }
  const parsed = agentsFileSchema.safeParse(
    interpolate(document, env, (name) => problems.push(`${name}: not set, but ${file} uses \${${name}}`)),
  );
  for (const issue of parsed.error?.issues ?? [])
    problems.push(`${file}, ${issue.path.join('.') || 'top level'}: ${issue.message}`);
  if (!parsed.success) return null;
  problems.push(...crossCheck(parsed.data, env, path.dirname(file)));
  return parsed.data;
}

/** `${NAME}` and `${NAME:-default}` in any text of the file, as in a compose file. */
function interpolate(value: unknown, env: Record<string, string>, missing: (name: string) => void): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, fallback: string | undefined) => {
        const found = env[name] ?? fallback;
        if (found === undefined) missing(name);
        return found ?? '';
      },
    );
  }
  if (Array.isArray(value)) return value.map((item) => interpolate(item, env, missing));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, interpolate(item, env, missing)]),
    );
  }
  return value;
}

/** For each delegation by which a task could come back, the way from its first agent to the same again. */
function circlesIn(agents: AgentsFile['agents']): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const visit = (name: string, way: string[]): void => {
    const start = way.indexOf(name);
    if (start !== -1) circles.push([...way.slice(start), name]);
    if (start !== -1 || finished.has(name)) return;
    const next = Object.hasOwn(agents, name) ? (agents[name]?.agents ?? []) : [];
    for (const delegate of new Set(next)) visit(delegate, [...way, name]);
    finished.add(name);
  };
  for (const name of Object.keys(agents)) visit(name, []);
  return circles;
}

function crossCheck(file: AgentsFile, env: Record<string, string>, folder: string): string[] {
  const problems: string[] = [];
  const needsVariable = (name: string | undefined, where: string) => {
    if (name !== undefined && env[name] === undefined)
      problems.push(`${name}: not set, but ${where} reads it`);
  };
  for (const [name, agent] of Object.entries(file.agents)) {
    for (const server of agent.servers) {
      if (!Object.hasOwn(file.servers, server))
        problems.push(
          `agents.${name}.servers: there is no server "${server}"; describe it under servers or remove it`,
        );
    }
    for (const delegate of new Set(agent.agents)) {
      if (!Object.hasOwn(file.agents, delegate))
        problems.push(
          `agents.${name}.agents: there is no agent "${delegate}"; describe it under agents or remove it`,
        );
    }
    const provider = agent.model.split(':', 1)[0] ?? '';
    const { providers } = file;
    if (provider === 'openai-compatible') {
      if (!providers[provider])
        problems.push(`agents.${name}.model: needs providers.openai-compatible.baseURL`);
      else needsVariable(providers[provider].apiKeyEnv, 'providers.openai-compatible.apiKeyEnv');
    } else if (provider === 'openai')
      needsVariable(providers.openai?.apiKeyEnv ?? 'OPENAI_API_KEY', `agents.${name}.model`);
    else if (provider === 'anthropic')
      needsVariable(providers.anthropic?.apiKeyEnv ?? 'ANTHROPIC_API_KEY', `agents.${name}.model`);
    else if (provider === 'scripted' && !providers.scripted)
      problems.push(`agents.${name}.model: needs providers.scripted.script`);
  }
  for (const circle of circlesIn(file.agents))
    problems.push(
      `agents.${circle[0]}.agents: ${circle.join(' → ')} is a circle, and such a task would never end; remove one of them`,
    );
  for (const [name, server] of Object.entries(file.servers)) {
    if (name === 'agent')
      problems.push(`servers.${name}: agents are offered to each other under this name; choose another`);
    // Tools are called <server>__<tool>: with two underscores in it, nobody could tell where the server's name ends.
    if (name.includes('__'))
      problems.push(`servers.${name}: a server's name has no two underscores in a row; write one`);
    for (const variable of Object.values(server.headersEnv))
      needsVariable(variable, `servers.${name}.headersEnv`);
    for (const variable of Object.values(server.envFrom ?? {}))
      needsVariable(variable, `servers.${name}.envFrom`);
    const cwd = path.resolve(folder, server.cwd ?? '.');
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      problems.push(`servers.${name}.cwd: there is no folder ${cwd}`);
    needsVariable(server.oauth?.clientSecretEnv, `servers.${name}.oauth.clientSecretEnv`);
    if (server.store === 'nango')
      for (const variable of ['NANGO_HOST', 'NANGO_API_KEY'])
        needsVariable(variable, `servers.${name}, which keeps its accounts at Nango,`);
  }
  return problems;
}
