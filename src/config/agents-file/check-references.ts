/**
 * Checks that no schema can make: names of servers and agents that do not exist, variables that are not set, members that
 * exclude each other. Checks whatever can be read of a file with other mistakes, so that all are reported at once.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { membersOf } from './agents-file.ts';
import type { ReadableParts } from './agents-file.ts';
import { delegationCycles } from './delegation-cycles.ts';
import { providerOptionNames } from './model-settings.ts';
import { didYouMean } from '../nearest-spelling.ts';
import { conflictsIn, storeConflicts } from './server-conflicts.ts';
import type { ServerEntry } from './server-entry.ts';
import type { FileProblem } from '../problem-messages.ts';

/** `document`: the file as it is, for what is there but cannot be read. */
export function checkReferences(
  file: ReadableParts,
  document: unknown,
  env: Record<string, string>,
  folder: string,
): FileProblem[] {
  const problems: FileProblem[] = [];
  const say = (at: PropertyKey[], message: string) => problems.push({ path: at, message });
  const needsVariable = (name: string | undefined, at: PropertyKey[]) => {
    if (name !== undefined && env[name] === undefined)
      say(at, `the variable ${name} is not set; set it in the environment`);
  };
  const serverNames = Object.keys(file.servers);
  const remoteNames = Object.keys(file.$remoteAgents);
  const agentNames = [...Object.keys(file.agents), ...remoteNames];

  for (const [name, agent] of Object.entries(file.agents)) {
    const uses = (agent.servers ?? []).map((use) => use.name);
    for (const [index, server] of uses.entries()) {
      const at = ['agents', name, 'servers', index];
      if (!serverNames.includes(server)) say(at, noSuch('server', server, serverNames));
      if (uses.indexOf(server) !== index) say(at, `"${server}" stands here already; write it once`);
    }
    for (const [index, delegate] of (agent.agents ?? []).entries())
      if (!agentNames.includes(delegate) && agent.agents?.indexOf(delegate) === index)
        say(['agents', name, 'agents', index], noSuch('agent', delegate, agentNames));
    checkTools(['agents', name, 'tools'], agent.tools);
    checkModel(['agents', name, 'model'], agent.model ?? '');
    const provider = providerOf(agent.model ?? '');
    const known = providerOptionNames(provider);
    for (const key of Object.keys(agent.modelSettings?.providerOptions ?? {}))
      if (provider !== '' && !known.includes(key))
        say(
          ['agents', name, 'modelSettings', 'providerOptions', key],
          `this agent's model is of another provider; write ${known.join(' or ')}`,
        );
  }
  const delegates = new Map(
    Object.entries(file.agents).map(([name, { agents = [] }]) => [name, agents] as const),
  );
  for (const circle of delegationCycles(delegates)) {
    const way = circle.join(' → ');
    say(
      ['agents', circle[0] ?? '', 'agents'],
      `${way} is a circle, and such a task would never end; remove one of them`,
    );
  }
  for (const [name, server] of Object.entries(file.servers)) {
    const at = ['servers', name];
    const written = Object.keys(membersOf(membersOf(membersOf(document)['servers'])[name]));
    for (const [member, message] of conflictsIn(server, written)) say([...at, member], message);
    for (const [key, variable] of Object.entries(server.envFrom ?? {}))
      needsVariable(variable, [...at, 'envFrom', key]);
    checkFolder([...at, 'cwd'], server.cwd ?? '.');
    checkAccounts(at, server);
  }
  for (const [name, agent] of Object.entries(file.$remoteAgents)) {
    const at = ['$remoteAgents', name];
    if (serverNames.includes(name))
      say(at, 'a server has this name, and accounts are kept by name; choose another');
    for (const [member, message] of storeConflicts(agent)) say([...at, member], message);
    checkAccounts(at, agent);
  }
  return problems;

  function checkAccounts(
    at: PropertyKey[],
    { headersEnv = {}, oauth, store }: Pick<Partial<ServerEntry>, 'headersEnv' | 'oauth' | 'store'>,
  ): void {
    for (const [key, variable] of Object.entries(headersEnv))
      needsVariable(variable, [...at, 'headersEnv', key]);
    needsVariable(oauth?.clientSecretEnv, [...at, 'oauth', 'clientSecretEnv']);
    // Where one of the two is set, the environment's own check asks for the other.
    if (store === 'nango' && env['NANGO_HOST'] === undefined && env['NANGO_API_KEY'] === undefined)
      say(
        [...at, 'store'],
        'accounts at Nango need the variables NANGO_HOST and NANGO_API_KEY; set them in the environment',
      );
  }

  function checkTools(at: PropertyKey[], tools: ReadableParts['agents'][string]['tools']): void {
    if (tools === undefined) return;
    checkFolder([...at, 'folder'], tools.folder);
    needsVariable(tools.completionSecretEnv, [...at, 'completionSecretEnv']);
  }

  function checkFolder(at: PropertyKey[], written: string): void {
    const there = path.resolve(folder, written);
    if (!statSync(there, { throwIfNoEntry: false })?.isDirectory())
      say(at, `there is no folder ${there}; make it, or write another one, relative to this file`);
  }

  function checkModel(at: PropertyKey[], model: string): void {
    const provider = providerOf(model);
    const { providers } = file;
    const isUnreadable = !Object.hasOwn(providers, provider);
    if (isUnreadable && Object.hasOwn(membersOf(membersOf(document)['providers']), provider)) return;
    switch (provider) {
      case 'openai-compatible': {
        const settings = providers['openai-compatible'];
        if (settings === undefined)
          say(at, 'needs providers.openai-compatible.baseURL; write where the model is');
        else needsVariable(settings.apiKeyEnv, ['providers', provider, 'apiKeyEnv']);
        return;
      }
      case 'openai':
        return needsVariable(providers.openai?.apiKeyEnv ?? 'OPENAI_API_KEY', at);
      case 'anthropic':
        return needsVariable(providers.anthropic?.apiKeyEnv ?? 'ANTHROPIC_API_KEY', at);
      case 'scripted':
        if (providers.scripted === undefined) say(at, 'needs providers.scripted.script; write which module');
        return;
      default:
    }
  }
}

function providerOf(model: string): string {
  return model.split(':', 1)[0] ?? '';
}

function noSuch(what: 'server' | 'agent', name: string, known: string[]): string {
  return `there is no ${what} "${name}"${didYouMean(name, known)}; describe it under ${what}s or remove it`;
}
