/** The handlers of a client, asked as one. */
import type { OnElicitation } from './answer-questions.ts';

export interface ElicitationHandlers {
  /** The latest first; the first that decides counts. */
  ask: OnElicitation;
  some(): boolean;
  /** Returns what removes it again. */
  add(handler: OnElicitation): () => void;
}

export function createHandlers(first: OnElicitation | undefined): ElicitationHandlers {
  // One each time it is added, though the same function may be added twice.
  let entries = first ? [{ handler: first }] : [];
  return {
    async ask(elicitation, context) {
      for (const { handler } of entries.toReversed()) {
        const decision = await handler(elicitation, context);
        if (decision !== undefined) return decision;
      }
      return undefined;
    },
    some: () => entries.length > 0,
    add(handler) {
      const entry = { handler };
      entries = [...entries, entry];
      return () => void (entries = entries.filter((one) => one !== entry));
    },
  };
}
