/** What operators see, as the contract describes it. Pure. */
import type { SeenQuestion, SeenTurn, Timeline } from '@interlude-ai/core/contract/operators.ts';
import { stateOf } from '../../service/operators.ts';
import type { SeenQuestion as QuestionRow, SeenTurn as TurnRow, TurnStory } from '../../service/operators.ts';
import { lineOf } from '../../turn/timeline/words.ts';

export function toSeenTurn(turn: TurnRow): SeenTurn {
  const { turnId, conversation, agent, user, service = null, createdAt, endedAt, waitsFor } = turn;
  return {
    turnId,
    conversationId: conversation,
    agent,
    user,
    service,
    state: stateOf(turn),
    createdAt: iso(createdAt),
    endedAt: isoOrNull(endedAt),
    waitsFor: waitsFor.map(toSeenQuestion),
  };
}

export function toSeenQuestion(question: QuestionRow): SeenQuestion {
  const { id, turnId, conversation, agent, user, request, status, createdAt, deadline, settledAt } = question;
  const { trigger, server = null, toolName = null, reason = null } = request.context;
  return {
    elicitationId: id,
    turnId,
    conversationId: conversation,
    agent,
    user,
    mode: request.mode,
    trigger,
    server,
    toolName,
    reason,
    status,
    createdAt: iso(createdAt),
    expiresAt: iso(deadline),
    settledAt: isoOrNull(settledAt),
  };
}

export function toTimeline({ turn, items, waitedMs, links }: TurnStory): Timeline {
  return {
    turn: toSeenTurn(turn),
    waitedMs: Math.round(waitedMs),
    traceUrl: links.trace,
    temporalUrl: links.temporal,
    items: items.map((item) => {
      const { id: _, at, endedAt, ...more } = item;
      const { title, notes } = lineOf(item);
      const deadline = item.kind === 'question' && { deadline: iso(item.deadline) };
      return { ...more, title, notes, at: iso(at), endedAt: isoOrNull(endedAt), ...deadline };
    }),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
