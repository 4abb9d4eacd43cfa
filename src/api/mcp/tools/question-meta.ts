/**
 * What MCP clients that know Interlude read about a question beside its words: who asks, and why. A public contract, in
 * docs/mcp-server.md: members are added, never changed; anything else takes a new version. Pure.
 */
import type { z } from 'zod';
import { questionMetaKey } from '../../../contract/elicitation.ts';
import type { QuestionMetaSchema } from '../../../contract/elicitation.ts';
import type { Context } from '../../../elicitation/elicitation.ts';
import type { Question } from './follow-call.ts';

export const metaVersion = 1;

/** `_meta` of a request `elicitation/create`, in all versions of the protocol. */
export function questionMeta({ elicitationId, expiresAt, context }: Question) {
  const meta: z.input<typeof QuestionMetaSchema> = {
    version: metaVersion,
    elicitationId,
    expiresAt,
    context: { ...context },
  };
  return { [questionMetaKey]: meta };
}

/** Where a question is put in words. `path`: of a delegated agent. */
export function originOf({ trigger, path }: Context) {
  return { trigger, ...(path && { path }) };
}
