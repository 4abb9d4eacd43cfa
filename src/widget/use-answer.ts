import { useRef, useState } from 'react';
import type { FieldError } from '../client/interlude-error.ts';
import type { Answering, Decision } from './answering.ts';
import type { Words } from './words.ts';

/** What a person decided about one question, on its way. */
export interface Answer {
  /**
   * Sent once, however often it is pressed, unless it is refused: what becomes of it, the service tells. `showAtFields`
   * gets what is wrong with single fields, and says whether all of it is shown there.
   */
  send(decision: Decision, showAtFields?: (errors: readonly FieldError[]) => boolean): Promise<void>;
  isSending: boolean;
  /** Why it was refused, or that nobody knows whether it arrived. */
  failure: string | null;
  /** The question was over when it arrived. */
  isLate: boolean;
  /** What was decided here, once it is on its way. */
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
