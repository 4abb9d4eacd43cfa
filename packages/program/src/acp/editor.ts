/** A connection to an editor as its sessions see it, for every version of the protocol. Shapes are those of v1. */
import type {
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';

export interface Editor {
  /** The modes of questions that the editor has declared. */
  modes: Capabilities;
  /** Aborts when the connection is gone. */
  closed: AbortSignal;
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** Both send `$/cancel_request` when `signal` aborts, and reject at once. The reply is unchecked. */
  elicit(params: CreateElicitationRequest, signal: AbortSignal): Promise<unknown>;
  requestPermission(params: RequestPermissionRequest, signal: AbortSignal): Promise<unknown>;
  /** The page of a link is done. */
  complete(elicitationId: string): Promise<void>;
  /** The state of the whole session; v1 has no update for it. */
  reportState(sessionId: string, state: SessionState): Promise<void>;
  /** For what is not part of the answer, such as a lost connection to the service. */
  notice(sessionId: string, words: string): Promise<void>;
}

/** Options of a request that ends as `elicit` and `requestPermission` do. */
export const untilAborted = (signal: AbortSignal) => ({
  cancellationSignal: signal,
  stopWaitingOnCancel: true,
});

export type SessionState =
  | { kind: 'running' | 'requires-action' }
  | { kind: 'idle'; stopReason?: StopReason }
  | { kind: 'failed'; message: string };
