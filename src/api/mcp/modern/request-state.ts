/**
 * What a call that is not over gives its client to bring along again: sealed, so that nobody reads or makes one, and bound
 * to who called which tool with which arguments. It only says where to look; what counts is what the turn's workflow
 * decided, so bringing one along twice does no harm.
 */
import { z } from 'zod';
import { rateLimitKey } from '../../../service/principal.ts';
import { digestOf } from '../../../service/sealed-text.ts';
import type { Service } from '../../../service/service.ts';
import type { Question } from '../tools/follow-call.ts';
import type { Caller, ToolCall } from '../tools/tool.ts';

const StateSchema = z.object({
  conversation: z.string(),
  turnId: z.string(),
  /** Asked with the result that carried this. */
  asked: z.array(z.string()),
  /** Answered before, and still open. */
  answered: z.array(z.string()),
  /** How many results asked to come again, this one included. */
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

export type OpenedState =
  | { kind: 'valid'; state: CallState }
  /** `detail` goes into the audit, `words` to the client. */
  | { kind: 'refused'; detail: string; words: string };

/** Nobody comes back later than this after the last question has run out. */
const afterwardsMs = 60 * 60 * 1000;
const use = 'MCP request state';

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
    expires: last + afterwardsMs,
  };
  return sealedText.seal(JSON.stringify(sealed), use);
}

export function openState(
  { sealedText }: Pick<Service, 'sealedText'>,
  { principal, call }: Bound,
  given: string,
): OpenedState {
  const text = sealedText.open(given, use);
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
