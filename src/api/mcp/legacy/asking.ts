/** Which questions one stream has asked, and what it says next: after news of the turn, or a word of the client. Pure. */
import { questionWords } from '../../../elicitation/question-words.ts';
import type { McpReply } from '../../../service/mcp-sessions.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { CallStage, Question } from '../tools/follow-call.ts';
import { questionMeta } from '../tools/question-meta.ts';
import { isShowable, shownQuestion } from '../tools/showable.ts';
import { notificationMessage, questionRequestId, requestMessage } from './messages.ts';

export interface Asking {
  /** By question: how many replies had been there when it was asked last. */
  asked: Map<string, { question: Question; times: number }>;
}

export type Replies = ReadonlyMap<string, McpReply>;

type Open = Exclude<CallStage, { kind: 'done' }>;

/**
 * Of those that were asked: what its client is told about those that are not open any more, which is that the page is done
 * that it had agreed to. Forgets them.
 */
export function closeSettled({ asked }: Asking, stage: CallStage, replies: Replies): object[] {
  const open = new Set(stage.kind === 'done' ? [] : stage.open.map(({ elicitationId }) => elicitationId));
  const settled = [...asked.keys()].filter((id) => !open.has(id));
  for (const id of settled) asked.delete(id);
  return settled
    .filter((elicitationId) => replies.get(elicitationId)?.kind === 'awaited')
    .map((elicitationId) => notificationMessage('notifications/elicitation/complete', { elicitationId }));
}

/** Of one question; an SDK that fills in the same form each time would be asked without end. */
const mostMisfits = 5;

/** Those that the call ends with, in words: its client has failed to ask them, or can ask none of what is open. */
export function unaskable(
  { asked }: Asking,
  stage: Open,
  { shows, replies }: { shows: Capabilities; replies: Replies },
): Question[] {
  const open = newlyOpen(stage);
  const isShown = isShowable(shows);
  const unshown = open.filter((question) => !isShown(question));
  const failed = [...[...asked.values()].map(({ question }) => question), ...open].filter(
    (question) => isWornOut(replies.get(question.elicitationId)) && !unshown.includes(question),
  );
  const areOthersAsked = asked.size > 0 || open.length > unshown.length;
  return failed.length > 0 || !areOthersAsked ? [...unshown, ...failed] : [];
}

function isWornOut(reply: McpReply | undefined): boolean {
  return reply?.kind === 'undelivered' || (reply?.kind === 'misfit' && reply.times >= mostMisfits);
}

/** Requests for what has opened, and again for what was answered with what does not fit. */
export function askOpen(
  { asked }: Asking,
  stage: Open,
  { shows, replies }: { shows: Capabilities; replies: Replies },
): object[] {
  const requests: object[] = [];
  for (const [id, { question, times }] of asked) {
    const reply = replies.get(id);
    if (reply?.kind !== 'misfit' || reply.times === times) continue;
    asked.set(id, { question, times: reply.times });
    requests.push(toRequest(question, reply));
  }
  for (const question of newlyOpen(stage).filter(isShowable(shows))) {
    const reply = replies.get(question.elicitationId);
    if (reply?.kind !== 'awaited') requests.push(toRequest(question, reply));
    asked.set(question.elicitationId, { question, times: reply?.times ?? 0 });
  }
  return requests;
}

function newlyOpen(stage: Open): Question[] {
  return stage.kind === 'asks' ? stage.questions : [];
}

function toRequest(question: Question, reply: McpReply | undefined): object {
  const misfit = reply?.kind === 'misfit' ? (reply.reasons ?? '') : undefined;
  const { elicitationId } = question;
  const shown = shownQuestion(question);
  const message = questionWords(question, misfit);
  const _meta = questionMeta(question);
  const params =
    shown.mode === 'url'
      ? { mode: 'url', message, url: shown.url, elicitationId, _meta }
      : { message, requestedSchema: shown.requestedSchema, _meta };
  return requestMessage(questionRequestId(elicitationId, reply?.times ?? 0), 'elicitation/create', params);
}
