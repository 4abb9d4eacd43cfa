/**
 * One log line when a question opens and one when it ends, whoever ends it. Ids, names and durations only: never the
 * message, an answer, an address or a secret, whatever the question's row holds besides.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import type { ElicitationRow, QuestionObserver } from '../storage/ports/elicitations.ts';
import { after, short } from './events.ts';

export function createQuestionLog(
  logger: Logger,
  servers: ReadonlyMap<string, Pick<ServerConfig, 'store'>>,
): QuestionObserver {
  const storeOf = ({ server }: ElicitationRow) => (server === null ? undefined : servers.get(server)?.store);

  return {
    opened(question) {
      logger.info(
        { ...fieldsOf(question), store: storeOf(question) },
        `turn ${short(question.turnId)} waits: ${question.user} ${requestedAction(question)}`,
      );
    },
    settled(question) {
      const { turnId, status: outcome, because, createdAt } = question;
      const ms = Date.now() - createdAt;
      logger.info(
        { ...fieldsOf(question), store: storeOf(question), outcome, because: because ?? undefined, ms },
        `turn ${short(turnId)} goes on: question ended with ${outcome}${after(ms)}`,
      );
    },
  };
}

/** `tool` and `connection` are older names of a server question's `toolName` and of an account question's `reason`. */
function fieldsOf({ id: elicitationId, turnId, agent, user, request }: ElicitationRow) {
  const { mode, context } = request;
  const { trigger, path, server, toolName, toolCallId, reason } = context;
  const older = trigger === 'credential_required' ? { connection: reason } : { tool: toolName };
  return { elicitationId, turnId, agent, path, user, trigger, mode, server, toolName, toolCallId, ...older };
}

function requestedAction({ request }: ElicitationRow): string {
  const { mode, context } = request;
  const { trigger, agent, server = agent, toolName, reason } = context;
  return trigger === 'credential_required'
    ? `is asked to connect ${server} (${reason})`
    : `is asked by ${server} (${toolName === undefined ? mode : `${toolName}, ${mode}`})`;
}
