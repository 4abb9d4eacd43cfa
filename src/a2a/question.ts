/** A question as the status of a task: in words for anybody, and as data for callers that know the extension. Pure. */
import type { Message } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import { personalKind, personalWords, withPersonalAsLink } from '../elicitation/personal.ts';
import { fieldsAsText } from '../elicitation/question-as-text.ts';
import { quotedQuestionWords } from '../elicitation/question-words.ts';
import { inspectUrl } from '../elicitation/url-safety.ts';
import { elicitationExtension, toStructured } from './extension.ts';
import { agentMessage, dataPart, textPart } from './parts.ts';

/** What is shown of the open questions of a task: one, and how many wait behind it. */
export interface ShownQuestion {
  question: ElicitationEvent;
  waiting: number;
  /** Where the person can answer it, signed in. */
  page: string;
  /** What was wrong with the answer that was given. */
  misfit?: string | undefined;
}

export interface Shown {
  taskId: string;
  contextId: string;
  /** The caller has asked for the extension. */
  isStructured: boolean;
}

/** What is settled outside of the conversation leaves the stream open; what takes a message closes it. */
export function stateOf(question: ElicitationEvent): TaskState {
  const isElsewhere = question.mode === 'url' || personalKind(question) !== null;
  return isElsewhere ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function questionMessage({ question, waiting, misfit, page }: ShownQuestion, shown: Shown): Message {
  const { isStructured, ...ids } = shown;
  const structured = toStructured(withPersonalAsLink(question, page), misfit);
  const words = [
    quotedQuestionWords(question, misfit),
    whatToDo(question, page),
    waiting > 0 && `${waiting} more ${waiting === 1 ? 'question follows' : 'questions follow'}.`,
  ].filter((line) => typeof line === 'string');
  const parts = [textPart(words.join('\n\n')), ...(isStructured ? [dataPart(structured)] : [])];
  const message = agentMessage(ids, question.elicitationId, parts);
  if (!isStructured) return message;
  return {
    ...message,
    extensions: [elicitationExtension],
    metadata: { [elicitationExtension]: structured },
  };
}

function whatToDo(question: ElicitationEvent, page: string): string {
  const until = `It is open until ${question.expiresAt}.`;
  if (question.mode === 'url') {
    const inspected = inspectUrl(question.url);
    const host = inspected.kind === 'ok' ? ` (it leads to ${inspected.host})` : '';
    return `Show the user this link${host}, and do not open it yourself: ${question.url}\nThe task goes on by itself when they are done. If they refuse, answer “no”. ${until}`;
  }
  const kind = personalKind(question);
  if (kind !== null)
    return `${personalWords(kind, page)}\nThe task goes on by itself when they have. If they refuse, answer “no”. ${until}`;
  const fields = fieldsAsText(question.requestedSchema);
  const refusal = 'If the user refuses, answer “no”. Never decide for them.';
  if (fields.length === 0) return `Answer “yes” if the user agrees. ${refusal} ${until}`;
  const names = Object.keys(propertiesOf(question.requestedSchema));
  const how =
    names.length === 1
      ? 'Answer with the value in plain words, or with a JSON object'
      : 'Answer with a JSON object';
  return [
    'Ask the user for:',
    ...fields,
    `${how} that fits this schema: ${JSON.stringify(question.requestedSchema)}`,
    `${refusal} Never ask for passwords, tokens or other secrets. They can also answer by themselves, signed in, on this page: ${page}\n${until}`,
  ].join('\n');
}

function propertiesOf({ properties }: Record<string, unknown>): object {
  return typeof properties === 'object' && properties !== null ? properties : {};
}
