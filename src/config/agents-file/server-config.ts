/** An MCP server in the agents file: somewhere on the network by its `url`, or a process of ours by its `command`. */
import path from 'node:path';
import { z } from 'zod';
import { commonVariables } from './inherited-variables.ts';
import { duration } from '../duration.ts';

export const entrySchema = z.strictObject({
  title: z.string().min(1).optional(),
  url: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^:]+:\/\/[^/?#@]*([/?#]|$)/, 'put credentials into headersEnv, not into the URL')
    .optional()
    .describe('Where it is; or write a command'),
  command: z
    .array(z.string().min(1), {
      error: 'write a list: the program, then each argument, like [npx, -y, tracker-mcp]',
    })
    .min(1)
    .optional()
    .describe(
      'A program on this machine and its arguments: it is started for each call and spoken to over stdio',
    ),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder in which the command is started, relative to this file; by default the folder of this file',
    ),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe('Variables of the command; of our own it gets only what any program needs, like PATH and HOME'),
  envFrom: z
    .record(z.string(), z.string())
    .optional()
    .describe('Variable of the command → environment variable'),
  credentialScope: z
    .enum(['user', 'project', 'none'])
    .optional()
    .describe('Whose account a call uses; user, unless given, and none with a command'),
  contact: z
    .string()
    .regex(/^[^\p{C}]{1,200}$/u, 'write one line of at most 200 characters')
    .optional()
    .describe('Whom people ask about a shared account, with credentialScope: project'),
  store: z
    .enum(['oauth', 'nango', 'vault'])
    .default('oauth')
    .describe('Where accounts are kept: oauth and vault, here and sealed; nango, at Nango'),
  oauth: z
    .strictObject({
      issuer: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe(
          'The only sign-in server people are sent to; by default the first one that the server named',
        ),
      clientId: z
        .string()
        .optional()
        .describe('A client registered beforehand at this issuer; without it, registration is automatic'),
      clientSecretEnv: z.string().optional(),
      scopes: z.array(z.string()).optional(),
    })
    .optional()
    .describe('How accounts are connected; with store: oauth'),
  nango: z
    .strictObject({
      integration: z.string().min(1).describe("The integration's unique key at Nango"),
      scopes: z.array(z.string().min(1)).optional().describe("Instead of the integration's own"),
      params: z
        .record(z.string(), z.string())
        .optional()
        .describe('Added to the authorization request, for example prompt: consent'),
    })
    .optional()
    .describe('With store: nango'),
  vault: z
    .strictObject({
      header: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'write the name of a header')
        .default('authorization'),
      scheme: z
        .string()
        .regex(/^[A-Za-z0-9-]*$/, 'write one word, or nothing')
        .optional()
        .describe('Word before the key; Bearer with the header authorization, otherwise none'),
      hint: z.string().min(1).max(300).optional().describe('Tells people where to find their key'),
      check: z.boolean().default(true).describe('Whether a key is tried at the server before it is kept'),
    })
    .optional()
    .describe('With store: vault, API keys that people enter on our page'),
  headers: z.record(z.string(), z.string()).default({}),
  headersEnv: z.record(z.string(), z.string()).default({}).describe('Header name → environment variable'),
  local: z
    .boolean()
    .optional()
    .describe(
      'Whether it is in your own network, where its sign-in may be, too; by default told by how its address is written',
    ),
  timeout: duration.default(60_000),
  maxRounds: z
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe('How often one tool call may ask the user something before it is stopped'),
});

type Entry = z.infer<typeof entrySchema>;

export const serverSchema = entrySchema.meta({
  description: 'An MCP server',
  oneOf: [{ required: ['url'] }, { required: ['command'] }],
});

type Conflict = [member: keyof Entry, message: string];

/** Members that exclude or need each other. `entry` has what can be read, `written` the names of all that is there. */
export function conflictsIn(entry: Partial<Entry>, written: string[]): Conflict[] {
  const { url, command } = entry;
  if (!written.includes('url') && !written.includes('command'))
    return [['url', 'write the url of the server, or a command']];
  if (url !== undefined && command !== undefined)
    return [['command', 'a server has a url or a command; remove one of them']];
  const given = (member: keyof Entry) =>
    Object.keys(Object(entry[member])).length > 0 || ['string', 'boolean'].includes(typeof entry[member]);
  if (!written.includes('command')) {
    const onlyProcesses = ['cwd', 'env', 'envFrom'] as const;
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
  if ((entry.credentialScope ?? 'none') !== 'none')
    conflicts.push(['credentialScope', 'a server with a command knows no accounts of people; write none']);
  return conflicts;
}

function storeConflicts(entry: Partial<Entry>): Conflict[] {
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
  const header = vault?.header.toLowerCase();
  const named = [...Object.keys(headers), ...Object.keys(headersEnv)];
  if (named.some((name) => name.toLowerCase() === header))
    conflicts.push(['vault', `the header ${vault?.header} is set by headers already; remove it there`]);
  return conflicts;
}

/** How a server of ours is started. `env` is all it gets to see. */
export interface ServerProcess {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

type OfProcess = 'command' | 'cwd' | 'env' | 'envFrom';

export type ServerConfig = Omit<Entry, OfProcess | 'url' | 'credentialScope'> & {
  name: string;
  title: string;
  /** Of a process of ours: `stdio://<name>`. */
  url: string;
  credentialScope: 'user' | 'project' | 'none';
  process?: ServerProcess;
};

/** Entry of the file → what the program works with. Values that stand in the environment are filled in. */
export function toServerConfig(
  name: string,
  { command, cwd = '.', env = {}, envFrom = {}, headersEnv, ...entry }: Entry,
  { variables, folder }: { variables: Record<string, string>; folder: string },
): ServerConfig {
  const filled = (from: Record<string, string>) =>
    Object.fromEntries(Object.entries(from).map(([key, variable]) => [key, variables[variable] ?? '']));
  const common = { ...entry, name, title: entry.title ?? name, headersEnv };
  const [program, ...args] = command ?? [];
  if (program === undefined) {
    const { url = '', credentialScope = 'user' } = entry;
    return { ...common, url, credentialScope, headers: { ...entry.headers, ...filled(headersEnv) } };
  }
  const inherited = commonVariables.flatMap((key) =>
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
    },
  };
}
