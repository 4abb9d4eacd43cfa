/** What clients send to our questions, at whatever process it arrives; whoever follows the turn sees what comes of it. */
import { ElicitationIdSchema } from '../../../contract/ids.ts';
import type { ElicitationResponse } from '../../../elicitation/elicitation.ts';
import type { McpReply, McpSession } from '../../../service/mcp-sessions.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { Service } from '../../../service/service.ts';
import { toResponse } from '../modern/input-required.ts';
import { answerQuestion } from '../tools/answers.ts';
import type { Caller } from '../tools/tool.ts';
import { questionOf } from './messages.ts';
import type { RequestId } from './messages.ts';

export type ReplyService = Pick<Service, 'mcpSessions' | 'findQuestion' | 'answerQuestion'>;

/** An error, or a result that is no answer, means that nobody was asked. An unknown id is ignored. */
export async function takeReply(
  service: ReplyService,
  { caller, session }: { caller: Caller; session: McpSession },
  { id, result }: { id: RequestId; result?: unknown },
): Promise<void> {
  const elicitationId = questionOf(id);
  const response = toResponse(result);
  const found = await service.findQuestion(caller.principal, elicitationId);
  if (!found) return refuse(service, caller, { elicitationId, response: response ?? { action: 'cancel' } });
  const put = (kind: McpReply['kind'], reasons?: string) =>
    service.mcpSessions.putReply(session.id, {
      elicitationId,
      kind,
      reasons: reasons ?? null,
    });
  if (!response) return put('undelivered');
  const verdict = await answerQuestion(service, caller, { question: found.question, response });
  switch (verdict.kind) {
    case 'awaited':
      return put('awaited');
    case 'misfit':
      return put('misfit', verdict.reasons);
    case 'settled':
    case 'late':
      return undefined;
    default:
      return verdict satisfies never;
  }
}

/** Nobody's, or somebody else's: then that is on record where all refusals are. */
async function refuse(
  service: ReplyService,
  { principal, address }: Caller,
  reply: { elicitationId: string; response: ElicitationResponse },
): Promise<void> {
  if (!ElicitationIdSchema.safeParse(reply.elicitationId).success) return;
  await service.answerQuestion(principal, { ...reply, address, mayBeModel: true }).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
}
