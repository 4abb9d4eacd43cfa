/**
 * The spans of a question: one without duration when it is asked, and one over the whole wait when it is settled. The
 * process that commits the change writes them, from the row alone. Declined and expired questions are not errors.
 */
import { trace } from '@opentelemetry/api';
import type { SpanContext } from '@opentelemetry/api';
import type { ServerConfig } from '../../config/config.ts';
import type { ElicitationRow } from '../../../storage/schema/question-tables.ts';
import type { QuestionObserver } from '../../../storage/database.ts';
import { genAi, own, question as names } from './names.ts';
import { currentRequest } from './requests.ts';
import { beginSpan, fromTraceparent, isTracing, linkTo, spanIdOf } from './tracing.ts';
import type { SpanAttributes } from './tracing.ts';

const waits = {
  accept: 'elicitation.completed',
  decline: 'elicitation.declined',
  cancel: 'elicitation.cancelled',
  expired: 'elicitation.timeout',
} as const;

export function createQuestionSpans(
  servers: ReadonlyMap<string, Pick<ServerConfig, 'store'>>,
): QuestionObserver {
  const attributesOf = (question: ElicitationRow): SpanAttributes => {
    const { request, server } = question;
    const { trigger, path, server: asking, toolName, toolCallId } = request.context;
    return {
      [own.turn]: question.turnId,
      [own.tenant]: question.tenant,
      [genAi.conversation]: question.conversation,
      [genAi.agent]: question.agent,
      [names.id]: question.id,
      [names.toolCall]: toolCallId ?? null,
      [names.tool]: toolName ?? null,
      [names.server]: asking ?? server,
      [names.credential]: server === null ? null : (servers.get(server)?.store ?? null),
      [names.trigger]: trigger,
      [names.mode]: request.mode,
      [names.path]: path ?? null,
      [names.user]: question.user,
      [names.deadline]: new Date(question.deadline).toISOString(),
    };
  };

  return {
    opened(question) {
      const root = rootOf(question);
      if (!root) return;
      const active = trace.getActiveSpan()?.spanContext();
      beginSpan({
        name: 'elicitation.requested',
        parent: active?.traceId === root.traceId ? active : root,
        ids: { spanId: spanIdOf('asked', question.id) },
        attributes: attributesOf(question),
        startTime: question.createdAt,
      }).end(question.createdAt);
    },
    settled(question) {
      const root = rootOf(question);
      const { status, createdAt, settledAt, because } = question;
      if (!root || status === 'pending' || settledAt === null) return;
      beginSpan({
        name: waits[status],
        parent: root,
        ids: { spanId: spanIdOf('wait', question.id) },
        attributes: {
          ...attributesOf(question),
          [names.duration]: settledAt - createdAt,
          [names.outcome]: status,
          [names.because]: because,
        },
        links: linkTo(currentRequest()?.span.spanContext(), 'answer'),
        startTime: createdAt,
      }).end(settledAt);
    },
  };
}

/** Null: the turn is not traced. */
function rootOf({ traceParent }: ElicitationRow): SpanContext | null {
  return isTracing() ? fromTraceparent(traceParent) : null;
}
