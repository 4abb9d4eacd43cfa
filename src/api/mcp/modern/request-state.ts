/**
 * The `requestState` of an unfinished call (MCP 2026-07-28), which the client sends back when it calls again. Sealed against
 * reading and forging, and bound to the caller, the tool and the arguments. It only identifies the turn, so sending one twice
 * does no harm.
 */
import { z } from 'zod';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { rateLimitKey } from '../../../service/principal.ts';
import { digestOf } from '../../../service/sealed-text.ts';
import type { Service } from '../../../service/service.ts';
import type { Question } from '../tools/follow-call.ts';
import type { Caller, ToolCall } from '../tools/tool.ts';

const StateSchema = z.object({
  conversation: z.string(),
  turnId: z.string(),
  /** Ids of the questions in the result that carried this state. */
  asked: z.array(z.string()),
  /** Ids of open questions that were answered earlier. */
  answered: z.array(z.string()),
  /** How many results have asked the client to call again, including this one. */
  rounds: z.number(),
});

export type CallState = z.infer<typeof StateSchema>;

const SealedSchema = z.object({
  state: StateSchema,
  owner: z.string(),
  call: z.string(),
  expires: z.number(),
});

type Bound = Pick<Caller, 'principal'> & { call: ToolCall };

type OpenedState =
  | { kind: 'valid'; state: CallState }
  /** `detail` is for the audit, `words` for the client. */
  | { kind: 'refused'; detail: string; words: string };

/** How long after the deadline of its last question a state is still accepted. */
const validAfterDeadlineMs = 60 * 60 * 1000;
const purpose = 'MCP request state';

export function sealState(
  { sealedText }: Pick<Service, 'sealedText'>,
  { principal, call }: Bound,
  { questions, ...state }: CallState & { questions: Question[] },
): string {
  const last = Math.max(Date.now(), ...questions.map(({ expiresAt }) => Date.parse(expiresAt)));
  const sealed: z.infer<typeof SealedSchema> = {
    state,
    owner: rateLimitKey(principal),
    call: digestOfCall(call),
    expires: last + validAfterDeadlineMs,
  };
  return sealedText.seal(JSON.stringify(sealed), purpose);
}

export function openState(
  { sealedText }: Pick<Service, 'sealedText'>,
  { principal, call }: Bound,
  given: string,
): OpenedState {
  const text = sealedText.open(given, purpose);
  if (text === null)
    return refused('forged request state', 'The requestState is not one of this service, or was changed.');
  const { state, owner, call: digest, expires } = SealedSchema.parse(JSON.parse(text));
  if (owner !== rateLimitKey(principal))
    return refused('request state of somebody else', 'The requestState was made for somebody else.');
  if (digest !== digestOfCall(call))
    return refused(
      'request state of another call',
      'The requestState belongs to a call of another tool or with other arguments. Send exactly the same call again.',
    );
  if (expires < Date.now())
    return refused('expired request state', 'The requestState has expired. Make the call anew, without it.');
  return { kind: 'valid', state };
}

function refused(detail: string, words: string): OpenedState {
  return { kind: 'refused', detail, words };
}

function digestOfCall({ name, arguments: given }: ToolCall): string {
  return digestOf([name, given]);
}

/** The error with which the SDK's own servers refuse a state. */
export class InvalidState extends ProtocolError {
  constructor(message: string) {
    super(ProtocolErrorCode.InvalidParams, message, { reason: 'invalid_request_state' });
  }
}
