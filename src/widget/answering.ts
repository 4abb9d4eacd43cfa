/** Sending what a person decided, and what the service makes of it. */
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import type { FieldError } from '../client/interlude-error.ts';
import type { ElicitationResponse } from '../contract/elicitation-response.ts';

export type Decision = Pick<ElicitationResponse, 'action' | 'content' | 'remember' | 'reason'>;

/**
 * `settled`: by now or before, as the stream is about to tell. `late`: so it is, and its time or its turn was over.
 * `refused`: it did not count, or nobody knows whether it will, as `detail` says; it may be sent again.
 */
export type Reception =
  | { kind: 'settled' }
  | { kind: 'late' }
  | { kind: 'refused'; detail: string; errors: FieldError[] };

/** Fails if nobody said that it arrived. */
export type Answering = (elicitationId: string, decision: Decision) => Promise<Reception>;

export function answerWith(client: Client, conversationId: string): Answering {
  return async (elicitationId, decision) => {
    try {
      await client.answer({ conversationId, elicitationId, ...decision });
      return { kind: 'settled' };
    } catch (error) {
      if (!(error instanceof InterludeError) || error.code === 'unreachable') throw error;
      // Somebody else was faster, or the time is over: the card shows what counts.
      if (error.status === 409) return { kind: 'settled' };
      if (error.status === 410) return { kind: 'late' };
      return { kind: 'refused', detail: error.detail, errors: error.errors };
    }
  };
}
