/**
 * The activities that open a question and that write how questions ended. A new kind of question is one more file in this
 * folder and one more case here. Histories name the activities.
 */
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { NewQuestion, OpenResult } from '../../turn/ask.ts';
import { openApprovalQuestion } from './open-approval-question.ts';
import { openConnectionQuestion } from './open-connection-question.ts';
import type { QuestionParts } from './open-question.ts';
import { openModelQuestion } from './open-model-question.ts';
import { openServerQuestion } from './open-server-question.ts';
import { openToolApprovalQuestion } from './open-tool-approval-question.ts';
import { openToolQuestion } from './open-tool-question.ts';

export function createElicitationActivities(parts: QuestionParts) {
  return {
    openElicitation: (input: NewQuestion) => openElicitation(parts, input),

    /** For outcomes that no other activity has written. Writing one again changes nothing. */
    async settleElicitations({ outcomes }: { outcomes: Settlement[] }): Promise<void> {
      await parts.storage.elicitations.settleAll(outcomes);
    },
  };
}

/** Writes the question, so that its user sees it. */
function openElicitation(parts: QuestionParts, input: NewQuestion): Promise<OpenResult> {
  const { ask } = input;
  switch (ask.kind) {
    case 'connection':
      return openConnectionQuestion(parts, { ...input, ask });
    case 'server':
      return openServerQuestion(parts, { ...input, ask });
    case 'approval':
      return openApprovalQuestion(parts, { ...input, ask });
    case 'tool-approval':
      return openToolApprovalQuestion(parts, { ...input, ask });
    case 'model':
      return openModelQuestion(parts, { ...input, ask });
    case 'tool':
      return openToolQuestion(parts, { ...input, ask });
    default:
      return ask satisfies never;
  }
}
