/**
 * What an agent's answer is made of, before it is put in the words of one version of the interface. Where the versions
 * agree, it is theirs.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';

/** Of questions, sent once when they open and again whenever their status changes, with what is needed to answer them. */
export interface Question {
  type: 'elicitation';
  elicitation: ElicitationRequest & { conversationId: string };
}

export type AgentPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'response-metadata'; id?: string; modelId: string; timestamp: Date }
  | { type: 'text-start' | 'reasoning-start'; id: string }
  /** Marked when the agent takes it back: in a stream, what has been said stays. */
  | { type: 'text-end' | 'reasoning-end'; id: string; providerMetadata?: { interlude: { void: true } } }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | Question
  | { type: 'error'; error: unknown }
  | ({ type: 'finish' } & Finish);

/** The same, whole. */
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
