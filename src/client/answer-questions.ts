/**
 * Answers the questions of one turn while it is followed. Views tell that a question opened and that it was settled;
 * whether it is still open when its turn is replayed, only the service knows, so that is asked before anybody is.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { ElicitationResponse } from '../contract/elicitation-response.ts';
import { InterludeError } from './interlude-error.ts';
import type { FieldError } from './interlude-error.ts';
import type { Part, TurnView } from './turn-view.ts';

/** What was decided: `content` only with `accept` of a form, `remember` and `reason` only of an approval. */
export type Decision = Pick<ElicitationResponse, 'action' | 'content' | 'remember' | 'reason' | 'source'>;

/**
 * Called once per open question while a turn is followed, also for those that were open before; several at once are
 * handled side by side. `undefined` leaves the question to somebody else, until its deadline. An error ends the
 * following with that error; the turn goes on.
 */
export type OnElicitation = (
  elicitation: ElicitationRequest,
  context: ElicitationContext,
) => Decision | undefined | Promise<Decision | undefined>;

export interface ElicitationContext {
  /** Aborts when the question is settled elsewhere, or when the following ends. */
  signal: AbortSignal;
  /** What was wrong with the answer before this one, as JSON pointers into it; empty the first time. */
  errors: readonly FieldError[];
}

interface Parts {
  onElicitation: OnElicitation;
  /** False as long as there is nobody to ask. */
  isListening: () => boolean;
  isOpen: (conversationId: string, elicitationId: string, signal: AbortSignal) => Promise<boolean>;
  answer: (answer: ElicitationResponse, signal: AbortSignal) => Promise<unknown>;
}

export interface Questions {
  /** Aborts with what went wrong. */
  failed: AbortSignal;
  see(view: TurnView): void;
  /** The following has ended. */
  close(): void;
}

/** How often a form is put again whose content did not fit. */
const mostRepeats = 3;

export function answerQuestions({ onElicitation, isListening, isOpen, answer }: Parts): Questions {
  const asked = new Map<string, AbortController>();
  const failure = new AbortController();

  function begin(conversationId: string, elicitation: ElicitationRequest): void {
    const over = new AbortController();
    asked.set(elicitation.elicitationId, over);
    ask(conversationId, elicitation, over.signal).catch((error: unknown) => {
      // Whoever gives up because it is over, gives up rightly.
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
        // Somebody else was faster, or it is too late: the stream tells what became of it.
        if (error.status === 409 || error.status === 410) return;
        if (error.code !== 'invalid_content' || repeat === mostRepeats) throw error;
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
    failed: failure.signal,
    see: ({ conversationId, parts }) => parts.forEach((part) => seePart(conversationId, part)),
    close() {
      for (const over of asked.values()) over.abort(new Error('Nobody follows the turn any more.'));
    },
  };
}
