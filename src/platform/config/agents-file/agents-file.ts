/** The agents file: the agents, MCP servers and model providers of a team. */
import { z } from 'zod';
import { approvalSchema, entrySchema, remoteAgentSchema, serverSchema } from './server-entry.ts';

const modelSettingsSchema = z
  .strictObject({
    temperature: z.number().min(0).optional().describe('How much chance there is in the answers; 0 is least'),
    maxOutputTokens: z
      .int()
      .min(1)
      .optional()
      .describe('Of one step. An answer that reaches it is cut off, and says so'),
    topP: z.number().min(0).max(1).optional().describe('Instead of temperature'),
    topK: z.int().min(1).optional(),
    presencePenalty: z.number().optional(),
    frequencyPenalty: z.number().optional(),
    stopSequences: z.array(z.string().min(1)).optional(),
    seed: z.int().optional(),
    reasoning: z
      .enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh'])
      .optional()
      .describe('How long it thinks before it answers'),
    providerOptions: z
      .record(z.string(), z.record(z.string(), z.json()))
      .optional()
      .describe('By provider, what only its models know, for example openai: { serviceTier: flex }'),
  })
  .describe("How its model is called. The provider's defaults apply to what is left out");

export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** The names under which the AI SDK looks for a provider's options; undefined where only the provider knows. */
export function providerOptionNames(provider: string): string[] | undefined {
  if (isPackage(provider)) return undefined;
  return provider === 'openai-compatible' ? ['openaiCompatible'] : [provider];
}

const packageName = /^(@[\w~-][\w.~-]*\/[\w~-][\w.~-]*|[a-z0-9]+(-[\w.]+)+)$/;

/** Whether a provider is an npm package, such as `@ai-sdk/google` or `ollama-ai-provider-v2`. */
export function isPackage(provider: string): boolean {
  return provider !== 'openai-compatible' && packageName.test(provider);
}

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a name has 1–32 of a-z, 0-9, - and _, and begins with a letter');

/**
 * Tools are called <server>__<tool>. With two underscores in a row or one at its end, the end of the server's name
 * would be ambiguous.
 */
const serverName = name
  .refine((text) => !text.includes('__'), "a server's name has no two underscores in a row; write one")
  .refine((text) => !text.endsWith('_'), "a server's name does not end with an underscore; leave it out")
  .refine((text) => text !== 'agent', 'agents are offered to each other under this name; choose another');

const modelWords =
  'write scripted, openai:…, anthropic:…, openai-compatible:… or a package of the AI SDK, for example openai:gpt-5 or @ai-sdk/google:gemini-2.5-pro';

const useWords = 'write the name of a server, or { name: tracker, tools: [list_issues] }';

const serverUseSchema = z.strictObject({
  name,
  tools: z
    .array(z.string().min(1))
    .min(1)
    .describe("The tools' own names at the server; no other one is offered, nor can be called"),
});

/** What an agent may use of a server; without `tools`, everything. */
interface ServerUse {
  name: string;
  tools?: string[] | undefined;
}

function toServerUse(written: string | ServerUse): ServerUse {
  return typeof written === 'string' ? { name: written } : written;
}

const ownToolsSchema = z.strictObject({
  folder: z.string().min(1).describe('Folder of tools in TypeScript, relative to this file'),
  allow: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Names of the tools it is offered; all of the folder unless given'),
  approval: approvalSchema
    .optional()
    .describe(
      'Which calls a person approves before they run: always, never (unless given), or destructive ones, by the annotations of the tools',
    ),
  completionSecretEnv: z
    .string()
    .min(1)
    .optional()
    .describe('Variable with the secret by which pages of these tools sign that they are done'),
});

const askUserSchema = z.strictObject({
  perTurn: z.int().min(1).max(50).default(5).describe('How many forms in one turn'),
});

export type AskUser = z.infer<typeof askUserSchema>;

const agentSchema = z.strictObject({
  title: z.string().min(1).optional(),
  description: z.string().default(''),
  model: z
    .string({ error: ({ input }) => (input === undefined ? `missing; ${modelWords}` : undefined) })
    .regex(
      /^(scripted|(openai|anthropic|openai-compatible|@[\w~-][\w.~-]*\/[\w~-][\w.~-]*|[a-z0-9]+(-[\w.]+)+):.+)$/,
      modelWords,
    ),
  images: z
    .boolean()
    .default(false)
    .describe('Whether its model takes images: PNG, JPEG, GIF and WebP in the messages of users'),
  instructions: z.string().default(''),
  examples: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe('Messages to begin with: the playground, the terminal and the A2A card suggest them'),
  modelSettings: modelSettingsSchema.default({}),
  servers: z
    .array(z.union([name, serverUseSchema], useWords).transform(toServerUse))
    .default([])
    .describe('Servers whose tools it may use: all of them, or those that are listed'),
  tools: ownToolsSchema.optional().describe('Tools in TypeScript that may ask the user'),
  agents: z
    .array(name)
    .default([])
    .describe(
      'Agents it may hand tasks to, remote ones included; none of this file may come back to the agent it started from',
    ),
  askUser: z
    .union([z.boolean(), askUserSchema], 'write true, or { perTurn: 5 }')
    .transform((written) => (written === true ? askUserSchema.parse({}) : written || undefined))
    .optional()
    .describe('The model may put forms of its own to the user, by the tool ask_user'),
  frontendTools: z
    .boolean()
    .optional()
    .describe('The model may call tools that a front end brings (AG-UI), and waits for their results'),
  maxSteps: z.int().min(1).max(200).default(20),
});

const packageSchema = z
  .strictObject({
    apiKeyEnv: z
      .string()
      .optional()
      .describe('The variable with its key; default: what the package reads itself'),
    baseURL: z.url().optional(),
    settings: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('What its create function takes besides, for example { region: eu-central-1 }'),
    factory: z.string().optional().describe('Its create function, if there are several'),
  })
  .describe('A provider of the AI SDK by the name of its package, which is installed beside this file');

export type PackageSettings = z.infer<typeof packageSchema>;

const providersSchema = z.strictObject({
  'openai-compatible': z
    .strictObject({
      baseURL: z.url(),
      apiKeyEnv: z.string().optional(),
      headers: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
  openai: z
    .strictObject({ apiKeyEnv: z.string().default('OPENAI_API_KEY'), baseURL: z.url().optional() })
    .optional(),
  anthropic: z
    .strictObject({ apiKeyEnv: z.string().default('ANTHROPIC_API_KEY'), baseURL: z.url().optional() })
    .optional(),
  scripted: z
    .strictObject({ script: z.string().describe('Module that exports the script, relative to this file') })
    .optional(),
  packages: z
    .record(
      z.string().regex(packageName, 'write the name of a package, for example @ai-sdk/google'),
      packageSchema,
    )
    .optional(),
});

const oneAgent = 'describe at least one agent, for example assistant: { model: scripted }';

const noAgents = ({ input }: { input?: unknown }) => (input === undefined ? oneAgent : undefined);

/** The schema of the written file, for editors. */
export const writtenSchema = z.strictObject({
  providers: providersSchema.default({}),
  servers: z.record(serverName, serverSchema).default({}),
  agents: z.record(name, z.union([agentSchema, remoteAgentSchema])),
});

/** The schema after `withRemoteAgentsApart`, so that each kind of agent gets its own messages. */
export const agentsFileSchema = z.strictObject({
  ...writtenSchema.shape,
  agents: z
    .record(name, agentSchema, { error: noAgents })
    .refine((agents) => Object.keys(agents).length > 0, oneAgent),
  $remoteAgents: z.record(serverName, remoteAgentSchema).default({}),
});

/** The schema of an entry, for any name. */
export const entrySchemas: Record<string, z.ZodObject> = {
  servers: serverSchema,
  agents: agentSchema,
  $remoteAgents: remoteAgentSchema,
};

/** The valid members of a file with mistakes. */
export interface ReadableParts {
  providers: Partial<ProvidersConfig>;
  servers: Record<string, Partial<z.output<typeof entrySchema>>>;
  agents: Record<string, Partial<z.output<typeof agentSchema>>>;
  $remoteAgents: Record<string, Partial<z.output<typeof remoteAgentSchema>>>;
}

export function readableParts(document: unknown): ReadableParts {
  const { providers, servers, agents, $remoteAgents } = membersOf(document);
  const read = <T>(entries: unknown, schema: z.ZodObject) =>
    Object.fromEntries(
      Object.entries(membersOf(entries)).map(([name, entry]) => [name, readable(schema, entry) as T]),
    );
  return {
    providers: readable(providersSchema, providers),
    servers: read(servers, entrySchema),
    agents: read(agents, agentSchema),
    $remoteAgents: read($remoteAgents, remoteAgentSchema),
  };
}

function readable(schema: z.ZodObject, value: unknown): Record<string, unknown> {
  const given = membersOf(value);
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, member]) => {
      const { success, data } = z.safeParse(member, given[name]);
      return success && data !== undefined ? [[name, data]] : [];
    }),
  );
}

export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export type AgentsFile = z.infer<typeof agentsFileSchema>;
export type AgentConfig = z.infer<typeof agentSchema> & { name: string; title: string };
export type ProvidersConfig = z.infer<typeof providersSchema>;
