/** How the content of an answer is kept: sealed, and bound to its question. */
import type { KeyRing } from '../credentials/sealing.ts';
import type { ElicitationResponse } from '../elicitation/elicitation.ts';
import type { Answer } from '../storage/storage.ts';
import { canonicalJson } from './canonical-json.ts';

export function sealAnswer(
  keys: KeyRing,
  elicitationId: string,
  { content }: ElicitationResponse,
): string | null {
  return content === undefined ? null : keys.seal(canonicalJson(content), answerContext(elicitationId));
}

/** The context to open an answer's content with. */
function answerContext(elicitationId: string): string {
  return `elicitation-answer/${elicitationId}`;
}

export function saysTheSame(
  keys: KeyRing,
  elicitationId: string,
  response: ElicitationResponse,
  stored: Answer,
): boolean {
  if (stored.action !== response.action) return false;
  const content =
    stored.sealedContent === null ? null : keys.open(stored.sealedContent, answerContext(elicitationId));
  return content === (response.content === undefined ? null : canonicalJson(response.content));
}
