/**
 * The parts of an agent's answer, before they are translated for one version of the AI SDK's provider interface. Where
 * the versions agree, the shapes are theirs.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';

/** A question: sent when it opens and again whenever its status changes, with the ids that an answer needs. */
export interface Question {
  type: 'elicitation';
  elicitation: ElicitationRequest & { conversationId: string };
}

export type AgentPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'response-metadata'; id?: string; modelId: string; timestamp: Date }
  | { type: 'text-start' | 'reasoning-start'; id: string }
  /** `void: true`: the text is void, because its model call is repeated; a stream cannot remove it. */
  | { type: 'text-end' | 'reasoning-end'; id: string; providerMetadata?: { interlude: { void: true } } }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | Question
  | { type: 'error'; error: unknown }
  | ({ type: 'finish' } & Finish);

/** The same without streaming: complete parts. */
export type AgentContent = { type: 'text' | 'reasoning'; text: string } | Question;

export interface Finish {
  finishReason: { unified: 'stop' | 'length' | 'content-filter' | 'error' | 'other'; raw: string };
  /** All model calls of the turn together. */
  usage: {
    inputTokens: Tokens<'total' | 'noCache' | 'cacheRead' | 'cacheWrite'>;
    outputTokens: Tokens<'total' | 'text' | 'reasoning'>;
  };
  providerMetadata: { interlude: { conversationId: string; turnId: string | null; status: string } };
}

type Tokens<Kind extends string> = Record<Kind, number | undefined>;

export interface Warning {
  type: 'unsupported' | 'compatibility';
  feature: string;
  details: string;
}
