import { useRef, useState } from 'react';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { FieldError } from '@interlude-ai/client/interlude-error.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import type { ElicitationRequest, ElicitationResponse } from '@interlude-ai/core/contract/elicitation.ts';

/** The answer to one question while it is sent. */
export interface Answer {
  /**
   * Sends it once, however often it is called, unless it is refused. The service reports the outcome. `showAtFields` gets
   * the errors of fields, and returns whether it shows all of them.
   */
  send(decision: Decision, showAtFields?: (errors: readonly FieldError[]) => boolean): Promise<void>;
  isSending: boolean;
  /** Why it was refused, or that it is unknown whether it arrived. */
  failure: string | null;
  /** The question had ended when the answer arrived. */
  isLate: boolean;
  /** The action, once it is being sent. */
  sent: Decision['action'] | null;
}

export function useAnswer(elicitationId: string, answering: Answering, words: Words): Answer {
  const [isSending, setSending] = useState(false);
  const [isLate, setLate] = useState(false);
  const [sent, setSent] = useState<Answer['sent']>(null);
  const [failure, setFailure] = useState<string | null>(null);
  // Two presses can come before the next rendering.
  const isUnderWay = useRef(false);

  const send: Answer['send'] = async (decision, showAtFields) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setSending(true);
    setFailure(null);
    setSent(decision.action);
    try {
      const reception = await answering(elicitationId, decision);
      if (reception.kind === 'late') setLate(true);
      if (reception.kind !== 'refused') return;
      if (!showAtFields?.(reception.errors)) setFailure(reception.detail);
    } catch {
      setFailure(words.answerFailed);
    }
    isUnderWay.current = false;
    setSending(false);
  };
  return { send, isSending, failure, isLate, sent };
}

type Decision = Pick<ElicitationResponse, 'action' | 'content' | 'remember' | 'reason'>;

/**
 * `settled`: now or before; the stream will show it. `late`: its time or its turn had ended. `refused`: it did not count,
 * or that is unknown, as `detail` says; it may be sent again.
 */
type Reception =
  | { kind: 'settled' }
  | { kind: 'late' }
  | { kind: 'refused'; detail: string; errors: FieldError[] };

/** Rejects if it is unknown whether the answer arrived. */
export type Answering = (elicitationId: string, decision: Decision) => Promise<Reception>;

export function answerWith(client: Client, conversationId: string): Answering {
  return async (elicitationId, decision) => {
    try {
      await client.answer({ conversationId, elicitationId, ...decision });
      return { kind: 'settled' };
    } catch (error) {
      if (!(error instanceof InterludeError) || error.code === 'unreachable') throw error;
      // Answered elsewhere, or expired: the card shows the outcome.
      if (error.status === 409) return { kind: 'settled' };
      if (error.status === 410) return { kind: 'late' };
      return { kind: 'refused', detail: error.detail, errors: error.errors };
    }
  };
}

export interface CardProps {
  question: ElicitationRequest;
  answer: Answer;
  words: Words;
}
