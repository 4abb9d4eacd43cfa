/** What clients send to our questions, at whatever process it arrives; whoever follows the turn sees what comes of it. */
import type { Service } from '../../../service/service.ts';
import type { McpReply, McpSession } from '../../../service/service.ts';
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
  const found = await service.findQuestion(caller.principal, elicitationId);
  if (!found) return;
  const put = (kind: McpReply['kind'], reasons?: string) =>
    service.mcpSessions.putReply(session.id, {
      elicitationId,
      kind,
      reasons: reasons ?? null,
    });
  const response = toResponse(result);
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
