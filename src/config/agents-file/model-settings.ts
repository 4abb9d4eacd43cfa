/** How an agent's model is called: the settings that every model of the AI SDK knows, and those of one provider. */
import { z } from 'zod';

export const modelSettingsSchema = z
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
  .describe('How its model is called. What is left out, the provider decides');

export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** Under which names the AI SDK looks for the options of a provider of ours. */
export function providerOptionNames(provider: string): string[] {
  return provider === 'openai-compatible' ? ['openaiCompatible'] : [provider];
}
