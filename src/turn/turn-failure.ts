/**
 * Why a turn failed: a code and the data of its sentence. Activity failures have the code as their type and this value as their
 * detail. Codes are stable, for clients to switch on. Pure.
 */

export type CodedFailure =
  | { code: 'MaxStepsReached'; maxSteps: number; isDelegated?: true | undefined }
  | { code: 'UnknownAgent'; agent: string }
  /** `isOutOfRoom`: the model used up its tokens before it said anything. */
  | { code: 'ModelEmptyAnswer'; isOutOfRoom?: true | undefined }
  | { code: (typeof plainFailures)[number] };

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

/** `message`: of a failure whose code has no sentence here, and in histories of older releases. */
export type TurnFailure = CodedFailure | { code: string; message: string };
