/** How the content of an answer is kept: sealed, and bound to its question. */
import type { KeyRing } from './key-ring.ts';

export function sealAnswer(keys: KeyRing, elicitationId: string, content: string): string {
  return keys.seal(content, answerContext(elicitationId));
}

export function openAnswer(keys: KeyRing, elicitationId: string, sealed: string): string {
  return keys.open(sealed, answerContext(elicitationId));
}

export function answerContext(elicitationId: string): string {
  return `elicitation-answer/${elicitationId}`;
}
