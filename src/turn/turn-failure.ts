/**
 * Why a turn failed: a code and the data of its sentence. Activity failures have the code as their type and this value as their
 * detail. Codes are stable, for clients to switch on. Pure.
 */
import { z } from 'zod';

/** Those whose sentence needs no data. */
export const plainFailures = [
  'ModelRateLimited',
  'ModelQuotaExhausted',
  'ModelUnavailable',
  'ModelUnauthorized',
  'ModelRefusedRequest',
  'ModelContextTooLong',
  'ModelContentPolicy',
  'ModelMisconfigured',
  /** A fault on our side. */
  'TurnFailed',
  'TurnLost',
  'TurnTerminated',
  'TurnTimedOut',
] as const;

export const codedFailureSchema = z.discriminatedUnion('code', [
  z.object({
    code: z.literal('MaxStepsReached'),
    maxSteps: z.int(),
    isDelegated: z.literal(true).optional(),
  }),
  z.object({ code: z.literal('UnknownAgent'), agent: z.string() }),
  /** `isOutOfRoom`: the model used up its tokens before it said anything. */
  z.object({ code: z.literal('ModelEmptyAnswer'), isOutOfRoom: z.literal(true).optional() }),
  z.object({ code: z.enum(plainFailures) }),
]);

/** `message`: of a failure whose code has no sentence here, and in histories of older releases. */
export const turnFailureSchema = z.union([
  codedFailureSchema,
  z.object({ code: z.string(), message: z.string() }),
]);

export type CodedFailure = z.infer<typeof codedFailureSchema>;
export type TurnFailure = z.infer<typeof turnFailureSchema>;
