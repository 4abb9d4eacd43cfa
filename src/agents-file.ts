/** The agents file: what a team writes to say which agents, MCP servers and model providers there are. */
import { z } from 'zod';
import { serverSchema } from './server-config.ts';

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'use 1–32 of a-z, 0-9, - and _, starting with a letter');

const agentSchema = z.strictObject({
  title: z.string().min(1).optional(),
  description: z.string().default(''),
  model: z
    .string()
    .regex(
      /^(scripted|(openai|anthropic|openai-compatible):.+)$/,
      'write scripted, openai:…, anthropic:… or openai-compatible:…',
    ),
  instructions: z.string().default(''),
  servers: z.array(name).default([]),
  agents: z
    .array(name)
    .default([])
    .describe('Agents it may hand tasks to; none may come back to the agent it started from'),
  maxSteps: z.int().min(1).max(200).default(20),
});

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
});

export const agentsFileSchema = z.strictObject({
  providers: providersSchema.default({}),
  servers: z.record(name, serverSchema).default({}),
  agents: z
    .record(name, agentSchema)
    .refine((agents) => Object.keys(agents).length > 0, 'describe at least one agent'),
});

export type AgentsFile = z.infer<typeof agentsFileSchema>;
export type AgentConfig = z.infer<typeof agentSchema> & { name: string; title: string };
export type ProvidersConfig = z.infer<typeof providersSchema>;
