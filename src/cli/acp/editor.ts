/**
 * One connection to an editor, as the sessions on it see it: the same for every version of the protocol. Shapes are those
 * of v1; whoever speaks another one translates.
 */
import type {
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import type { Capabilities } from '../../elicitation/capabilities.ts';

export interface Editor {
  /** The modes of questions that it has declared, each by itself. */
  modes: Capabilities;
  /** Aborts when the connection is gone. */
  closed: AbortSignal;
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /**
   * Both send `$/cancel_request` when `signal` aborts, and reject at once. What comes back is not checked by anybody.
   */
  elicit(params: CreateElicitationRequest, signal: AbortSignal): Promise<unknown>;
  requestPermission(params: RequestPermissionRequest, signal: AbortSignal): Promise<unknown>;
  /** The page of a link is done. */
  complete(elicitationId: string): Promise<void>;
  /** What the session as a whole is doing; v1 has no words for it. */
  tellState(sessionId: string, state: SessionState): Promise<void>;
  /** Something that is no part of the answer, such as a lost connection to the service. */
  notice(sessionId: string, words: string): Promise<void>;
}

/** The options of a request that ends as `elicit` and `requestPermission` do. */
export const untilAborted = (signal: AbortSignal) => ({
  cancellationSignal: signal,
  stopWaitingOnCancel: true,
});

export type SessionState =
  | { kind: 'running' | 'requires-action' }
  | { kind: 'idle'; stopReason?: StopReason }
  | { kind: 'failed'; message: string };
