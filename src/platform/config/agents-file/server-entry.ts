/**
 * What turns call, as it is written in the agents file: MCP servers (by `url`, or by the `command` of a local program) and remote
 * agents (by `card`).
 */
import { z } from 'zod';
import { approvalPolicies } from '@interlude-ai/core/elicitation/approval.ts';
import { duration } from '../duration.ts';
import { colourPattern } from '@interlude-ai/core/elicitation/server-look.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

// Which calls a person approves first, for the tools of a server and for an agent's own tools.

const approvalWords = 'write always, never or destructive';

const approvalPolicy = z.enum(approvalPolicies, approvalWords);

export const approvalSchema = z.union(
  [
    approvalPolicy,
    z.strictObject({
      default: approvalPolicy.default('never'),
      tools: z.record(z.string().min(1), approvalPolicy).default({}).describe("By the tools' own names"),
    }),
  ],
  `${approvalWords}, or { default: never, tools: { delete_issue: always } }`,
);

/** The id of a user or group. Not root: the entry is there to take rights away. */
const userId = z
  .int({ error: 'write the number of a user or group other than root' })
  .min(1, 'write the number of a user or group other than root')
  .max(4_294_967_294)
  .optional();

/** Parameters of the authorization request that the service sets, and what to write instead. */
const reservedParameters: Record<string, string> = {
  client_id: 'write oauth.clientId',
  client_secret: 'write oauth.clientSecretEnv',
  scope: 'write oauth.scopes',
  resource: 'write oauth.resource: false to leave it out',
  redirect_uri: 'it is different for each sign-in server and in the log of the API',
  response_type: 'it is always code',
  response_mode: 'answers come in the query',
  state: 'it is made for each attempt',
  code_challenge: 'it is made for each attempt',
  code_challenge_method: 'it is always S256',
  code_verifier: 'it is a secret of each attempt',
  grant_type: 'it belongs to the token request',
  request: 'it would replace all other parameters',
  request_uri: 'it would replace all other parameters',
};

const authorizationParamsSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9._~-]{1,100}$/, 'write the name of a parameter'),
    z.string({ error: 'write a text; put numbers and words like true into quotation marks' }).max(1_000),
  )
  .superRefine((params, context) => {
    for (const name of Object.keys(params)) {
      const instead = reservedParameters[name.toLowerCase()];
      if (instead !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `this parameter cannot be set here: ${instead}; remove it`,
        });
    }
  });

const oauthSchema = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The only sign-in server people are sent to; by default the first one that the server named. It may differ from its metadata by a slash at the end',
    ),
  clientId: z
    .string()
    .optional()
    .describe('A client registered beforehand at this issuer; without it, registration is automatic'),
  clientSecretEnv: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  authorizationParams: authorizationParamsSchema
    .optional()
    .describe(
      'Added to the authorization request, for example access_type: offline. They are part of an address, so no secrets',
    ),
  resource: z
    .boolean({ error: 'write false to leave the parameter "resource" out' })
    .optional()
    .describe('Whether the parameter "resource" (RFC 8707) is sent; true, unless given'),
  scopeInRenewals: z
    .boolean()
    .optional()
    .describe('Whether renewals name the scopes of the account; false, unless given'),
  pkce: z
    .literal('S256', { error: 'write S256; nothing else is supported' })
    .optional()
    .describe('The sign-in server supports PKCE with S256, although its metadata does not say so'),
});

export const entrySchema = z.strictObject({
  title: z.string().min(1).optional(),
  colour: z
    .string()
    .regex(colourPattern, "write it like '#2f6f5e', in quotation marks")
    .optional()
    .describe('Behind its first letter, where people are asked; derived from its name, unless given'),
  picture: z
    .string()
    .regex(/\.(png|jpe?g|webp|svg)$/i, 'write a file that ends in .png, .jpg, .webp or .svg')
    .optional()
    .describe('Instead of its first letter: a square picture of at most 6 kB, relative to this file'),
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
  uid: userId.describe(
    'User that the command runs as, together with gid; the worker has to run as root for that',
  ),
  gid: userId.describe('Group that the command runs as, together with uid'),
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
  oauth: oauthSchema.optional().describe('How accounts are connected; with store: oauth'),
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
      'Whether it is in your own network, where its sign-in may be, too; by default its address decides',
    ),
  approval: approvalSchema
    .optional()
    .describe(
      'Which calls a person approves before they are sent: always, never (unless given), or destructive ones, by what the server says of its tools',
    ),
  era: z
    .enum(['auto', '2025-11-25', '2026-07-28'])
    .optional()
    .describe(
      'The MCP version that it is called with; auto, unless given: the one in which it can ask the user',
    ),
  timeout: duration.default(60_000),
  traceparent: z
    .boolean()
    .optional()
    .describe(
      'false keeps our trace from it, where traces are on; otherwise requests to it carry traceparent',
    ),
  maxRounds: z
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe('How often one tool call may ask the user something before it is stopped'),
});

export type ServerEntry = z.infer<typeof entrySchema>;

export const serverSchema = entrySchema.meta({
  description: 'An MCP server',
  oneOf: [{ required: ['url'] }, { required: ['command'] }],
});

// A remote agent is listed under `agents` and recognised by its `card`. It has accounts and limits like a server.

const address = (what: string) =>
  z
    .url({ protocol: /^https?$/ })
    .regex(/^[^:]+:\/\/[^/?#@]*([/?#]|$)/, `put credentials into headersEnv, not into the ${what}`);

export const remoteAgentSchema = entrySchema
  .omit({ url: true, command: true, cwd: true, uid: true, gid: true, env: true, envFrom: true, era: true })
  .extend({
    card: address('address').describe(
      'Address of its A2A agent card, which ends in /.well-known/agent-card.json at most agents',
    ),
    description: z
      .string()
      .default('')
      .describe('What it is good for: the model decides by these words, and never by those of the card'),
    endpoint: address('address')
      .optional()
      .describe(
        'Where messages may go besides the host of the card, when the card names an address of another host',
      ),
    timeout: duration
      .default(600_000)
      .describe('How long it may work without asking anything; waiting for people is not included'),
  })
  .meta({ description: 'A remote agent that speaks A2A' });

export type RemoteAgentEntry = z.infer<typeof remoteAgentSchema>;

/** Moves entries of `agents` with a `card` to `$remoteAgents`, so that each kind is checked by its own schema. */
export function withRemoteAgentsApart(document: unknown): unknown {
  if (!isRecord(document) || !isRecord(document['agents'])) return document;
  const entries = Object.entries(document['agents']);
  const isRemote = ([, entry]: [string, unknown]) => isRecord(entry) && 'card' in entry;
  return {
    ...document,
    agents: Object.fromEntries(entries.filter((entry) => !isRemote(entry))),
    $remoteAgents: Object.fromEntries(entries.filter(isRemote)),
  };
}

/** Turns a path of a document that `withRemoteAgentsApart` made into a path of the file, for messages. */
export function writtenPath([section, ...rest]: PropertyKey[]): PropertyKey[] {
  return section === undefined ? [] : [section === '$remoteAgents' ? 'agents' : section, ...rest];
}
