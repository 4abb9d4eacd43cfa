/** What a person reads above a question, where all that a client shows of it is one text. Pure. */
import { isApproval } from './approval.ts';
import { askerTitle } from './asker.ts';
import { warningText } from './url-safety.ts';
import type { ElicitationRequest } from './elicitation.ts';

/** `misfit`: what was wrong with the answer that was given. */
export function questionWords(question: ElicitationRequest, misfit?: string): string {
  const { context } = question;
  const lines = [
    whoAsks(question) + question.message,
    isApproval(context) && context.arguments,
    ...(context.warnings ?? []).map(warningText),
    misfit !== undefined && `Please answer again: ${misfit}`,
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}

/**
 * The same for a model to pass on. A stranger's message is quoted line by line, and so is what follows the first line of any
 * other, so that nobody goes on in the words of whoever passes it on.
 */
export function quotedQuestionWords(question: ElicitationRequest, misfit?: string): string {
  const isStrangers = whoAsks(question) !== '';
  const lines = question.message.split('\n');
  const message = lines.map((line, index) => (isStrangers || index > 0 ? `> ${line}` : line)).join('\n');
  return questionWords({ ...question, message }, misfit);
}

/** Our own questions name in their words what they are about; a stranger's must not pass for ours. */
function whoAsks({ context }: ElicitationRequest): string {
  const { trigger, host } = context;
  switch (trigger) {
    case 'mcp_elicitation':
    case 'a2a_input_required':
    case 'a2a_auth_required': {
      const title = askerTitle(context) ?? 'A server';
      return `${title}${host === undefined ? '' : ` (${host})`} asks:\n`;
    }
    case 'credential_required':
    case 'tool_elicitation':
    case 'approval':
    case 'model_question':
      return '';
    default:
      return trigger satisfies never;
  }
}
