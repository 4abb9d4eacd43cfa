/**
 * Questions to a user as a workflow has them opened and closed. Something else to ask is one more file beside this, and
 * one more case here.
 */
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { NewQuestion, OpenResult } from '../../turn/ask.ts';
import { openConnectionQuestion } from './open-connection-question.ts';
import type { QuestionParts } from './open-question.ts';
import { openServerQuestion } from './open-server-question.ts';

export function createElicitationActivities(parts: QuestionParts) {
  return {
    openElicitation: (input: NewQuestion) => openElicitation(parts, input),

    /** For outcomes that nothing else writes down: nobody goes on because of them, or who did has failed. */
    async settleElicitations({ outcomes }: { outcomes: Settlement[] }): Promise<void> {
      await parts.storage.elicitations.settleAll(outcomes);
    },
  };
}

/** Puts the question to the user. */
function openElicitation(parts: QuestionParts, input: NewQuestion): Promise<OpenResult> {
  const { ask } = input;
  switch (ask.kind) {
    case 'connection':
      return openConnectionQuestion(parts, { ...input, ask });
    case 'server':
      return openServerQuestion(parts, { ...input, ask });
    default:
      return ask satisfies never;
  }
}
