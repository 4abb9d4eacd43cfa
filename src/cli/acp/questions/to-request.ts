/** A question → what the editor is asked with. Pure. */
import type {
  CreateElicitationRequest,
  PermissionOption,
  RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import { isApproval } from '../../../elicitation/approval.ts';
import type { ElicitationRequest as Question } from '../../../elicitation/elicitation.ts';
import { readRequestedSchema } from '../../../elicitation/form/requested-schema.ts';
import { isSafeToOpen } from '../../../elicitation/url-safety.ts';
import { questionWords } from '../../../elicitation/question-words.ts';
import { inCode, textContent } from '../updates/tool-output.ts';
import { permissionKind } from '../updates/tool-kind.ts';
import { toAcpSchema } from './form-schema.ts';

export interface Place {
  sessionId: string;
  /** As the editor knows the call; undefined where it was told of none. */
  toolCallId: string | undefined;
}

export type EditorRequest =
  | { kind: 'permission'; params: RequestPermissionRequest }
  | { kind: 'elicitation'; params: CreateElicitationRequest }
  /** The editor has not declared this mode, or the address is none that it may be given to open. */
  | { kind: 'no-mode' };

/** `misfit`: what was wrong with the answer before. */
export function toRequest(
  question: ElicitationRequest,
  { sessionId, toolCallId }: Place,
  { modes, misfit }: { modes: Capabilities; misfit: string | undefined },
): EditorRequest {
  if (isApproval(question.context))
    return { kind: 'permission', params: toPermission(question, { sessionId, toolCallId }) };
  if (!modes[question.mode]) return { kind: 'no-mode' };
  const scope = { sessionId, ...(toolCallId !== undefined && { toolCallId }) };
  const message = wordsOf(question, misfit);
  if (question.mode === 'url') {
    const { elicitationId, url } = question;
    if (!isSafeToOpen(url)) return { kind: 'no-mode' };
    return { kind: 'elicitation', params: { ...scope, mode: 'url', elicitationId, url, message } };
  }
  const requestedSchema = toAcpSchema(fieldsOf(question));
  return { kind: 'elicitation', params: { ...scope, mode: 'form', message, requestedSchema } };
}

export function fieldsOf(question: Extract<ElicitationRequest, { mode: 'form' }>) {
  const form = readRequestedSchema(question.requestedSchema);
  return form.kind === 'form' ? form.fields : [];
}

export function wordsOf(question: ElicitationRequest, misfit?: string): string {
  // The published type lets unknown triggers pass, which are then nobody's in particular.
  return questionWords(question as Question, misfit);
}

/** By the option's id: what choosing it means. */
export const permissionAnswers = {
  'allow-once': { action: 'accept' },
  'allow-conversation': { action: 'accept', remember: 'conversation' },
  'allow-always': { action: 'accept', remember: 'always' },
  reject: { action: 'decline' },
} as const;

/** Clients that approve by themselves take the first of a kind: the narrowest comes first. */
const options: (PermissionOption & { optionId: keyof typeof permissionAnswers })[] = [
  { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow-conversation', name: 'Allow in this conversation', kind: 'allow_always' },
  { optionId: 'allow-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

function toPermission(
  { elicitationId, message, context }: ElicitationRequest,
  { sessionId, toolCallId }: Place,
): RequestPermissionRequest {
  const shown = context.arguments === undefined ? '' : inCode(context.arguments, 'json');
  return {
    sessionId,
    toolCall: {
      toolCallId: toolCallId ?? elicitationId,
      title: message,
      kind: permissionKind(context.toolName ?? ''),
      status: 'pending',
      content: textContent(shown),
    },
    options,
  };
}
