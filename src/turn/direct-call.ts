/**
 * A message that is a call of one tool: the turn makes this call and ends with its result, and no model is asked. Stored as
 * a text part with a mark, so that whoever reads the conversation later, a model or a person, reads what was called. Pure.
 */
import type { TextPart } from 'ai';

export type DirectCallPart = TextPart & {
  providerOptions: { interlude: { kind: 'direct-call'; tool: string; input: string } };
};

export interface DirectCall {
  tool: string;
  input: Record<string, unknown>;
}

export function toDirectCallPart({ tool, input }: DirectCall): DirectCallPart {
  const written = JSON.stringify(input);
  return {
    type: 'text',
    text: `${tool} ${written}`,
    providerOptions: { interlude: { kind: 'direct-call', tool, input: written } },
  };
}

/** Null for a message that is for a model. */
export function directCallIn(content: unknown): DirectCall | null {
  if (!Array.isArray(content)) return null;
  for (const part of content as Partial<DirectCallPart>[]) {
    const mark = part.providerOptions?.interlude;
    if (mark?.kind !== 'direct-call') continue;
    return { tool: mark.tool, input: JSON.parse(mark.input) as Record<string, unknown> };
  }
  return null;
}

const idPrefix = 'direct-';

export function directCallId(turnId: string): string {
  return idPrefix + turnId;
}

export function isDirectCall(toolCallId: string): boolean {
  return toolCallId.startsWith(idPrefix);
}
