/**
 * Answers the questions of one turn while it is followed. Views show when a question opens and when it is settled. During a
 * replay only the service knows whether it is still open, so that is asked before a handler is.
 */
import type { ElicitationRequest, ElicitationResponse } from '@interlude-ai/core/contract/elicitation.ts';
import { InterludeError } from './interlude-error.ts';
import type { FieldError } from './interlude-error.ts';
import type { Part, TurnView } from './turn-view.ts';

/** `content` only with `accept` of a form, `remember` and `reason` only of an approval. */
export type Decision = Pick<ElicitationResponse, 'action' | 'content' | 'remember' | 'reason' | 'source'>;

/**
 * Called once per open question while a turn is followed, also for those that were open before; several at once are handled
 * in parallel. `undefined` leaves the question open for another answer, until its deadline. An error ends the following
 * with that error; the turn goes on.
 */
export type OnElicitation = (
  elicitation: ElicitationRequest,
  context: ElicitationContext,
) => Decision | undefined | Promise<Decision | undefined>;

export interface ElicitationContext {
  /** Aborts when the question is settled elsewhere, or when the following ends. */
  signal: AbortSignal;
  /** What was wrong with the previous answer, as JSON pointers into it; empty the first time. */
  errors: readonly FieldError[];
}

interface Parts {
  onElicitation: OnElicitation;
  /** False while there is no handler. */
  isListening: () => boolean;
  isOpen: (conversationId: string, elicitationId: string, signal: AbortSignal) => Promise<boolean>;
  answer: (answer: ElicitationResponse, signal: AbortSignal) => Promise<unknown>;
}

/** How often a form is asked again after an invalid answer. */
const maxRepeats = 3;

export function answerQuestions({ onElicitation, isListening, isOpen, answer }: Parts) {
  const asked = new Map<string, AbortController>();
  const failure = new AbortController();

  function begin(conversationId: string, elicitation: ElicitationRequest): void {
    const over = new AbortController();
    asked.set(elicitation.elicitationId, over);
    ask(conversationId, elicitation, over.signal).catch((error: unknown) => {
      // An error after the end of the question does not count.
      if (!over.signal.aborted) failure.abort(error);
    });
  }

  async function ask(
    conversationId: string,
    elicitation: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { elicitationId } = elicitation;
    if (!(await isOpen(conversationId, elicitationId, signal))) return;
    let errors: readonly FieldError[] = [];
    for (let repeat = 0; !signal.aborted; repeat += 1) {
      const decision = await onElicitation(elicitation, { signal, errors });
      if (decision === undefined) return;
      try {
        await answer({ conversationId, elicitationId, ...decision }, signal);
        return;
      } catch (error) {
        if (!(error instanceof InterludeError)) throw error;
        // The question was settled elsewhere, or has expired: the stream shows how.
        if (error.status === 409 || error.status === 410) return;
        if (error.code !== 'invalid_content' || repeat === maxRepeats) throw error;
        ({ errors } = error);
      }
    }
  }

  function seePart(conversationId: string, part: Part): void {
    if (part.kind !== 'elicitation') return;
    const { elicitationId, status } = part.elicitation;
    const known = asked.get(elicitationId);
    if (status !== 'pending') known?.abort(new Error('The question was settled.'));
    else if (!known && isListening()) begin(conversationId, part.elicitation);
  }

  return {
    /** Aborts with the error of a handler. */
    failed: failure.signal,
    see: ({ conversationId, parts }: TurnView) => parts.forEach((part) => seePart(conversationId, part)),
    /** The following has ended. */
    close() {
      for (const over of asked.values()) over.abort(new Error('Nobody follows the turn any more.'));
    },
  };
}

export type Questions = ReturnType<typeof answerQuestions>;

export function createHandlers(first: OnElicitation | undefined) {
  // One entry per call, because the same function may be added twice.
  let entries = first ? [{ handler: first }] : [];
  return {
    /** Asks the latest handler first; the first decision counts. */
    async ask(elicitation: ElicitationRequest, context: ElicitationContext) {
      for (const { handler } of entries.toReversed()) {
        const decision = await handler(elicitation, context);
        if (decision !== undefined) return decision;
      }
      return undefined;
    },
    some: () => entries.length > 0,
    /** Returns a function that removes it. */
    add(handler: OnElicitation) {
      const entry = { handler };
      entries = [...entries, entry];
      return () => void (entries = entries.filter((one) => one !== entry));
    },
  };
}

export type ElicitationHandlers = ReturnType<typeof createHandlers>;
