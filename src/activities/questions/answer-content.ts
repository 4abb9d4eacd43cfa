/** What a person has filled in, as it was kept sealed. */
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openAnswer } from '../../credentials/sealing/sealed-answer.ts';
import type { Storage } from '../../storage/storage.ts';

interface Parts {
  storage: { elicitations: Pick<Storage['elicitations'], 'answer'> };
  keys: KeyRing;
}

/** Undefined when there is no such answer, null when it has no content. */
export async function answerContent(
  { storage, keys }: Parts,
  elicitationId: string,
  responseId: string | null,
): Promise<Record<string, unknown> | null | undefined> {
  const answer = responseId === null ? null : await storage.elicitations.answer(elicitationId, responseId);
  if (!answer) return undefined;
  const { sealedContent } = answer;
  if (sealedContent === null) return null;
  return JSON.parse(openAnswer(keys, elicitationId, sealedContent)) as Record<string, unknown>;
}
