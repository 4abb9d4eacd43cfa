/**
 * Checks that no schema can make: unknown names of servers and agents, variables that are not set, members that exclude each
 * other. Checks what can be read of a file with other mistakes, so that all mistakes are reported at once.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import type { FileProblem } from '../problem-messages.ts';
import { isPackage, membersOf, providerOptionNames } from './agents-file.ts';
import type { ReadableParts } from './agents-file.ts';
import type { ServerEntry } from './server-entry.ts';

/** In bytes: questions are stored with it. */
const largestPicture = 6_000;

/** `document`: the whole file, for members that are present but invalid. */
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
      say(at, `the variable ${name} is not set; set it in the environment or in .env`);
  };
  const serverNames = Object.keys(file.servers);
  const remoteNames = Object.keys(file.$remoteAgents);
  const agentNames = [...Object.keys(file.agents), ...remoteNames];

  for (const [name, agent] of Object.entries(file.agents)) {
    const uses = (agent.servers ?? []).map((use) => use.name);
    for (const [index, server] of uses.entries()) {
      const at = ['agents', name, 'servers', index];
      if (!serverNames.includes(server)) say(at, noSuch('server', server, serverNames));
      if (uses.indexOf(server) !== index) say(at, `"${server}" is listed twice; write it once`);
    }
    for (const [index, delegate] of (agent.agents ?? []).entries())
      if (!agentNames.includes(delegate) && agent.agents?.indexOf(delegate) === index)
        say(['agents', name, 'agents', index], noSuch('agent', delegate, agentNames));
    checkTools(['agents', name, 'tools'], agent.tools);
    checkModel(['agents', name, 'model'], agent.model ?? '');
    const provider = providerOf(agent.model ?? '');
    const known = providerOptionNames(provider);
    for (const key of Object.keys(agent.modelSettings?.providerOptions ?? {}))
      if (provider !== '' && known?.includes(key) === false)
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
    checkPicture([...at, 'picture'], server.picture);
    checkAccounts(at, server);
  }
  for (const [name, agent] of Object.entries(file.$remoteAgents)) {
    const at = ['$remoteAgents', name];
    if (serverNames.includes(name))
      say(at, 'a server has this name, and accounts are kept by name; choose another');
    for (const [member, message] of storeConflicts(agent)) say([...at, member], message);
    checkPicture([...at, 'picture'], agent.picture);
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
    // If only one of them is set, the environment's own check asks for the other.
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

  function checkPicture(at: PropertyKey[], written: string | undefined): void {
    if (written === undefined) return;
    const there = path.resolve(folder, written);
    const file = statSync(there, { throwIfNoEntry: false });
    if (!file?.isFile()) say(at, `there is no file ${there}; write another one, relative to this file`);
    else if (file.size > largestPicture)
      say(at, `${there} has ${file.size} bytes; make it smaller, it is part of every question`);
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
        if (isPackage(provider))
          needsVariable(providers.packages?.[provider]?.apiKeyEnv, [
            'providers',
            'packages',
            provider,
            'apiKeyEnv',
          ]);
    }
  }
}

function providerOf(model: string): string {
  return model.split(':', 1)[0] ?? '';
}

function noSuch(what: 'server' | 'agent', name: string, known: string[]): string {
  return `there is no ${what} "${name}"${didYouMean(name, known)}; describe it under ${what}s or remove it`;
}

/** Each circle of delegations: the names from an agent back to itself. */
function delegationCycles(delegates: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const visit = (name: string, way: string[]): void => {
    const start = way.indexOf(name);
    if (start !== -1) circles.push([...way.slice(start), name]);
    if (start !== -1 || finished.has(name)) return;
    for (const delegate of new Set(delegates.get(name))) visit(delegate, [...way, name]);
    finished.add(name);
  };
  for (const name of delegates.keys()) visit(name, []);
  return circles;
}

// Members of a server's entry that exclude or need each other.

type Conflict = [member: keyof ServerEntry, message: string];

/** `entry` has the valid members, `written` the names of all members. */
function conflictsIn(entry: Partial<ServerEntry>, written: string[]): Conflict[] {
  const { url, command } = entry;
  if (!written.includes('url') && !written.includes('command'))
    return [['url', 'write the url of the server, or a command']];
  if (url !== undefined && command !== undefined)
    return [['command', 'a server has a url or a command; remove one of them']];
  const given = (member: keyof ServerEntry) =>
    Object.keys(Object(entry[member])).length > 0 ||
    ['string', 'boolean', 'number'].includes(typeof entry[member]);
  if (!written.includes('command')) {
    const onlyProcesses = ['cwd', 'uid', 'gid', 'env', 'envFrom'] as const;
    return [
      ...onlyProcesses
        .filter(given)
        .map((member): Conflict => [member, 'only a server with a command has this']),
      ...storeConflicts(entry),
    ];
  }
  const onlyHttp = ['oauth', 'nango', 'vault', 'headers', 'headersEnv', 'local'] as const;
  const conflicts = onlyHttp
    .filter(given)
    .map((member): Conflict => [member, 'only a server with a url has this; a command has env and envFrom']);
  if (given('uid') !== given('gid'))
    conflicts.push([given('uid') ? 'uid' : 'gid', 'write both, uid and gid, or neither']);
  if ((entry.credentialScope ?? 'none') !== 'none')
    conflicts.push(['credentialScope', 'a server with a command knows no accounts of people; write none']);
  return conflicts;
}

/** For everything with accounts: servers with a url, and remote agents. */
function storeConflicts(
  entry: Pick<
    Partial<ServerEntry>,
    'store' | 'oauth' | 'nango' | 'vault' | 'headers' | 'headersEnv' | 'credentialScope'
  >,
): Conflict[] {
  const { store, oauth, vault, headers = {}, headersEnv = {} } = entry;
  const conflicts = (['oauth', 'nango', 'vault'] as const)
    .filter((member) => member !== store && entry[member] !== undefined)
    .map((member): Conflict => [member, `only a server with store: ${member} has this`]);
  if (store === 'nango' && entry.nango === undefined)
    conflicts.push(['nango', 'write which integration of Nango keeps the accounts']);
  if (store !== 'oauth' && store !== undefined && entry.credentialScope === 'none')
    conflicts.push([
      'credentialScope',
      `with none there are no accounts, so ${store} keeps nothing; write user or project, or remove store`,
    ]);
  if (oauth?.clientSecretEnv !== undefined && oauth.clientId === undefined)
    conflicts.push(['oauth', 'a secret belongs to a client; write its id under clientId']);
  if (oauth?.clientId !== undefined && oauth.issuer === undefined)
    conflicts.push([
      'oauth',
      'write under issuer at which sign-in server this client is registered: it is used nowhere else',
    ]);
  if (oauth?.pkce !== undefined && oauth.issuer === undefined)
    conflicts.push(['oauth', 'write under issuer which sign-in server supports PKCE without saying so']);
  const header = vault?.header.toLowerCase();
  const named = [...Object.keys(headers), ...Object.keys(headersEnv)];
  if (named.some((name) => name.toLowerCase() === header))
    conflicts.push(['vault', `the header ${vault?.header} is set by headers already; remove it there`]);
  return conflicts;
}
