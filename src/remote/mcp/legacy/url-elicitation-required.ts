/**
 * The old era's refusal of a call until the user has been to certain pages (2025-11-25, error `-32042`). The call is
 * made again after that; the error says nothing about a state to come back to.
 */
import { z } from 'zod';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import { readQuestion } from '../../read-question.ts';
import type { ReadInputRequired } from '../../read-question.ts';

const maxPages = 20;

const dataSchema = z.looseObject({
  elicitations: z
    .array(z.looseObject({ elicitationId: z.string().min(1) }))
    .min(1)
    .max(maxPages),
});

/** `data` of the error. Each page goes by its `elicitationId`, which a completion notification names too. */
export function readRequiredPages(data: unknown, capabilities: Capabilities): ReadInputRequired {
  const parsed = dataSchema.safeParse(data);
  if (!parsed.success)
    return { kind: 'unaskable', reason: 'it wants the user to open pages, but does not say which' };
  const questions = [];
  for (const page of parsed.data.elicitations) {
    const read = readQuestion({ ...page, mode: 'url' }, capabilities);
    if (read.kind === 'refused') return { kind: 'unaskable', reason: read.reason };
    const { elicitationId } = page;
    questions.push({ key: elicitationId, pageId: elicitationId, request: read.request });
  }
  return { kind: 'pause', pause: { questions, resume: { kind: 'again' } } };
}
