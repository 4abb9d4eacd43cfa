import { z } from 'zod';

/** What the turn is doing, for those who want to show it. Names and ids only, never what is said. */
export const OperationSchema = z
  .looseObject({
    type: z.enum(['model_step', 'tool_call', 'tool_result', 'delegation', 'elicitation']),
    /** For people. */
    label: z.string(),
    details: z.looseObject({ timestamp: z.iso.datetime(), agent: z.string() }),
  })
  .meta({ id: 'Operation' });

export type Operation = z.infer<typeof OperationSchema>;
