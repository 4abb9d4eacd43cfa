/** The content of an answer as it is kept: sealed, and spelled in one way only, so that equal answers are seen to be equal; and its id. */
import { openAnswer, sealAnswer } from '../credentials/sealing/sealed-answer.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { ElicitationResponse } from '../elicitation/elicitation.ts';
import type { Answer, ElicitationRow } from '../storage/ports/elicitations.ts';
import { canonicalJson, digestOf } from '../credentials/sealing/canonical-json.ts';

export function sealContent(
  keys: KeyRing,
  elicitationId: string,
  { content }: ElicitationResponse,
): string | null {
  return content === undefined ? null : sealAnswer(keys, elicitationId, canonicalJson(content));
}

export function saysTheSame(
  keys: KeyRing,
  elicitationId: string,
  response: ElicitationResponse,
  stored: Answer,
): boolean {
  if (stored.action !== response.action) return false;
  const content =
    stored.sealedContent === null ? null : openAnswer(keys, elicitationId, stored.sealedContent);
  return content === (response.content === undefined ? null : canonicalJson(response.content));
}

/** Equal answers have equal ids. Salted, because ids stand in workflow history and answers are easily guessed. */
export function responseIdOf(
  { salt }: Pick<ElicitationRow, 'salt'>,
  { action, content }: ElicitationResponse,
  idempotencyKey?: string,
): string {
  const named = idempotencyKey === undefined ? ['answer', action, content ?? null] : ['key', idempotencyKey];
  return digestOf([salt, ...named]);
}
