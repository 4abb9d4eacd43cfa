/**
 * Validates the payloads of signals; null for one that is malformed. Whoever may signal a workflow can send anything,
 * and a handler that throws makes the workflow task fail and be retried for ever. So handlers take `unknown` and read it
 * here.
 */
import { isAction } from '../elicitation/elicitation.ts';
import { isAskResult } from '../turn/ask.ts';
import type {
  AccountConcluded,
  AccountVerdict,
  AccountWanted,
  AnswerElicitation,
  ConnectionEstablished,
  DelegatePhase,
  ServerAsks,
  QuestionUpdate,
  Supersede,
} from './messages.ts';

export function readAnswer(message: unknown): AnswerElicitation | null {
  const { elicitationId, responseId, action, user, connected } = fieldsOf(message);
  if (!isText(elicitationId) || !isText(responseId) || !isText(user) || !isAction(action)) return null;
  return { elicitationId, responseId, action, user, ...(isCount(connected) && { connected }) };
}

export function readConnection(message: unknown): ConnectionEstablished | null {
  const { server, version } = fieldsOf(message);
  return isText(server) && isCount(version) ? { server, version } : null;
}

export function readSupersede(message: unknown): Supersede | null {
  const { until, withdrawn } = fieldsOf(message);
  if (typeof until !== 'number') return null;
  return { until, ...(typeof withdrawn === 'number' && { withdrawn }) };
}

export function readDelegatePhase(message: unknown): DelegatePhase | null {
  const { toolCallId, phase, agreesTo, refuses } = fieldsOf(message);
  if (!isText(toolCallId) || (phase !== 'working' && phase !== 'waiting')) return null;
  if (phase === 'working') return { toolCallId, phase };
  return { toolCallId, phase, ...(isCount(agreesTo) && { agreesTo }), ...(isCount(refuses) && { refuses }) };
}

export function readAccountWanted(message: unknown): AccountWanted | null {
  const { toolCallId, server } = fieldsOf(message);
  return isText(toolCallId) && isText(server) ? { toolCallId, server } : null;
}

export function readAccountConcluded(message: unknown): AccountConcluded | null {
  const wanted = readAccountWanted(message);
  const { result } = fieldsOf(message);
  return wanted && (result === null || isAskResult(result)) ? { ...wanted, result } : null;
}

export function readAccountVerdict(message: unknown): AccountVerdict | null {
  const { server, verdict } = fieldsOf(message);
  return isText(server) && (verdict === 'ask' || isAskResult(verdict)) ? { server, verdict } : null;
}

export function readServerAsks(message: unknown): ServerAsks | null {
  const { toolCallId, round, questions } = fieldsOf(message);
  if (!isText(toolCallId) || !isCount(round) || !Array.isArray(questions)) return null;
  const read = questions.map(readQuestion).filter((question) => question !== null);
  return read.length === questions.length ? { toolCallId, round, questions: read } : null;
}

function readQuestion(question: unknown): ServerAsks['questions'][number] | null {
  const { elicitationId, mode } = fieldsOf(question);
  return isText(elicitationId) && (mode === 'url' || mode === 'form') ? { elicitationId, mode } : null;
}

export function readQuestionUpdate(message: unknown): QuestionUpdate | null {
  const { elicitationIds, news } = fieldsOf(message);
  if (!Array.isArray(elicitationIds) || !elicitationIds.every(isText)) return null;
  if (news !== 'page_done' && news !== 'server_gave_up' && news !== 'server_gone') return null;
  return { elicitationIds, news };
}

function fieldsOf(message: unknown): Record<string, unknown> {
  return typeof message === 'object' && message !== null ? { ...message } : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
