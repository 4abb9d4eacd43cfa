/**
 * One log line when a question opens and one when it ends, for any reason; both are counted, too. Ids, names and durations
 * only: never the message, an answer, an address or a secret.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import type { ElicitationRow, QuestionObserver } from '../storage/ports/elicitations.ts';
import { aboutTurn, after, short } from './events.ts';
import { questionOpened, questionSettled } from './metrics/instruments.ts';

export function createQuestionLog(
  logger: Logger,
  servers: ReadonlyMap<string, Pick<ServerConfig, 'store'>>,
): QuestionObserver {
  const storeOf = ({ server }: ElicitationRow) => (server === null ? undefined : servers.get(server)?.store);

  return {
    opened(question) {
      logger.info(
        { ...fieldsOf(question), credentialStore: storeOf(question) },
        `turn ${short(question.turnId)} waits: ${question.user} ${requestedAction(question)}`,
      );
      questionOpened(question);
    },
    settled(question) {
      const { turnId, status: outcome, because, createdAt, settledAt } = question;
      const durationMs = (settledAt ?? createdAt) - createdAt;
      logger.info(
        {
          ...fieldsOf(question),
          credentialStore: storeOf(question),
          outcome,
          because: because ?? undefined,
          durationMs,
        },
        `turn ${short(turnId)} goes on: question ended with ${outcome}${after(durationMs)}`,
      );
      questionSettled(question);
    },
  };
}

function fieldsOf(question: ElicitationRow) {
  const { id: elicitationId, agent, user, request } = question;
  const { mode, context } = request;
  const { trigger, path, server, toolName, toolCallId, reason } = context;
  return {
    elicitationId,
    ...aboutTurn(question),
    agent,
    path,
    user,
    trigger,
    mode,
    server,
    toolName,
    toolCallId,
    reason,
  };
}

function requestedAction({ request }: ElicitationRow): string {
  const { mode, context } = request;
  const { trigger, agent, server = agent, toolName } = context;
  return trigger === 'credential_required'
    ? `is asked to connect ${server}`
    : `is asked by ${server} (${toolName === undefined ? mode : `${toolName}, ${mode}`})`;
}
