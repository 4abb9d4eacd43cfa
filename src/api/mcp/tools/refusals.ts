/** What went wrong with a call, in words that the model behind the client acts on. Pure. */
import { ServiceError } from '../../../service/service-error.ts';
import type { ServiceErrorCode } from '../../../service/service-error.ts';
import { InvalidArguments } from './arguments.ts';
import { errorResult } from './tool.ts';
import type { ToolResult } from './tool.ts';

/** What to do about it, beyond what the message says. */
const remedies = {
  invalid_request: '',
  unauthenticated: '',
  forbidden: '',
  cannot_act_for_users: '',
  person_required: '',
  unknown_agent: '',
  unknown_server: '',
  conversation_not_found: 'Leave conversationId out to begin a new conversation.',
  turn_not_found: '',
  turn_in_progress:
    'This conversation is still at work on an earlier message. Call wait_for_turn with this conversationId and turnId, or leave conversationId out to begin a new conversation.',
  message_id_reused: '',
  idempotency_key_reused: '',
  elicitation_not_found: 'Call list_my_questions to see which questions are open.',
  approval_not_found: '',
  not_your_question: '',
  invalid_content: '',
  already_answered: 'Do not answer it again; call wait_for_turn to see what came of it.',
  expired: '',
  images_not_taken: '',
  too_many_hops: '',
  turn_over: '',
  // Its message says what to do.
  unavailable: '',
} satisfies Record<ServiceErrorCode, string>;

/** Null for what is nobody's doing: the caller's translation of an unexpected error. */
export function refusalOf(error: unknown): ToolResult | null {
  if (error instanceof InvalidArguments) return errorResult(error.message);
  if (!(error instanceof ServiceError)) return null;
  const { code, message, details } = error;
  const issues = details.issues?.map(({ path, detail }) => `${path.join('.')}: ${detail}`) ?? [];
  const turn = details.turnId === undefined ? '' : ` (turnId: ${details.turnId})`;
  const parts = [code === 'turn_in_progress' ? '' : message, ...issues, remedies[code] + turn];
  return errorResult(parts.filter((part) => part !== '').join(' '));
}
