/** What the request headers say about the reader of a turn, and the response headers about the turn. */
import type { FastifyReply } from 'fastify';
import { parseCapabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { languageOf } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import type { TurnRef } from '../../turn/turn.ts';

export interface Reader {
  /** Which questions it can show a person. */
  capabilities: Capabilities;
  /** Wants to know what the turn is doing. */
  operations: boolean;
  /** Can discard the text of a repeated step. */
  resets: boolean;
  /** Knows the SDK's own requests for approval. */
  toolApprovals: boolean;
  /** Of the person who reads the errors of tool calls. Null: they are read by a model, or as a model reads them. */
  language: Language | null;
}

interface ReaderHeaders {
  'x-supports-elicitation'?: string | undefined;
  'x-emit-operations'?: string | undefined;
  'x-supports-reset-step'?: string | undefined;
  'x-supports-tool-approval'?: string | undefined;
  'x-user-language'?: string | undefined;
}

export function languageFrom({ 'x-user-language': tag }: Pick<ReaderHeaders, 'x-user-language'>) {
  return tag === undefined ? null : languageOf(tag);
}

export function readerFrom(headers: ReaderHeaders): Reader {
  return {
    capabilities: parseCapabilities(headers['x-supports-elicitation']),
    operations: isTrue(headers['x-emit-operations']),
    resets: isTrue(headers['x-supports-reset-step']),
    toolApprovals: isTrue(headers['x-supports-tool-approval']),
    language: languageFrom(headers),
  };
}

function isTrue(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}

export function nameTurn(reply: FastifyReply, { conversation, turnId }: TurnRef): void {
  reply.headers({ 'x-conversation-id': conversation, 'x-turn-id': turnId });
}
