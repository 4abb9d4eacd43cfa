/** The question that asks a user to connect an account. All calls of a turn that need the account share it. */
import { randomUUID } from 'node:crypto';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionRequired } from '../../credentials/store.ts';
import { questionAddress } from '../../elicitation/account-pages.ts';
import { warningsAbout } from '../../elicitation/url-safety.ts';
import { connectionMessage } from '../../elicitation/wording.ts';
import { serverContext, turnOf } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';

/** `tool`: null when nothing is known about the server's tools yet. */
export function accountQuestion(
  parts: Pick<QuestionParts, 'config' | 'storeOf'>,
  { turn, toolCallId }: AskingCall,
  { server, tool }: { server: ServerConfig; tool: string | null },
  { reason, seenVersion, scopes }: ConnectionRequired,
): Question {
  const { connectedBy, catchUp } = parts.storeOf(server);
  const id = randomUUID();
  const url = questionAddress(parts.config.http.publicUrl, id);
  const isPlainHttp = warningsAbout(url).includes('plain_http');
  const context = {
    ...serverContext(parts, turn, server),
    trigger: 'credential_required' as const,
    reason,
    ...(tool !== null && { toolName: tool }),
    toolCallId,
    ...(scopes && { scopes }),
    ...(isPlainHttp && { warnings: ['plain_http' as const] }),
  };
  const subject = { kind: 'connection' as const, turn: turnOf(turn), server: server.name, seenVersion };
  return {
    id,
    place: `account/${turn.turnId}/${server.name}/${seenVersion}`,
    request: {
      mode: 'url',
      message: connectionMessage(server.title, reason, tool ?? undefined, connectedBy),
      url,
      context,
    },
    account: { server: server.name, seenVersion },
    ...(catchUp && { poll: { id, subject, firstMs: 0 } }),
  };
}
