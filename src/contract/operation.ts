import { z } from 'zod';
import { ElicitationStatusSchema } from './elicitation.ts';

const operation = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, details: Shape) =>
  z.looseObject({
    type: z.literal(type),
    /** For people. */
    label: z.string(),
    details: z.looseObject({ timestamp: z.iso.datetime(), agent: z.string(), ...details }),
  });

const call = { toolCallId: z.string() };
const tool = { ...call, toolName: z.string() };

/** What the turn is doing, for those who want to show it. Names and ids only, never what is said. */
export const OperationSchema = z
  .discriminatedUnion('type', [
    operation('model_step', { step: z.int().min(0) }),
    operation('tool_call', tool),
    /** Said again as it grows, under the same id. `total`: what `progress` comes to in the end, if that is known. */
    operation('tool_progress', { ...tool, progress: z.number(), total: z.number().optional() }),
    operation('tool_result', { ...tool, status: z.enum(['done', 'failed']) }),
    /** Not in the log, and so not on the feed: a state of the moment, told again with `over` when a worker is there. */
    operation('waiting_for_worker', { status: z.enum(['waiting', 'over']) }),
    operation('delegation', { ...call, delegate: z.string() }),
    operation('elicitation', {
      elicitationId: z.string(),
      mode: z.enum(['url', 'form']),
      trigger: z.string(),
      /** Where a server asks. */
      server: z.string().optional(),
      status: ElicitationStatusSchema,
    }),
  ])
  .meta({ id: 'Operation' });

export type Operation = z.infer<typeof OperationSchema>;
