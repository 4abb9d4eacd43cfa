/** Members of a server's entry that exclude or need each other. */
import type { ServerEntry } from './server-entry.ts';

type Conflict = [member: keyof ServerEntry, message: string];

/** `entry` has what can be read, `written` the names of all that is there. */
export function conflictsIn(entry: Partial<ServerEntry>, written: string[]): Conflict[] {
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

/** Of whatever has accounts: servers with a url, and remote agents. */
export function storeConflicts(
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
      `with none nobody has an account, so ${store} keeps nothing; write user or project, or remove store`,
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
