/** What the caller has approved once and for all: what there is, and the end of it. */
import { ApprovalListSchema, ApprovalParamsSchema, ApprovalSchema } from '../../contract/approvals.ts';
import type { Approval } from '../../contract/approvals.ts';
import type { OwnApproval } from '../../service/approvals.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';

export function approvalsSurface(api: Api, { approvals }: Pick<Service, 'approvals'>): void {
  const list = describeRoute({
    tag: 'connections',
    id: 'listApprovals',
    summary: 'Tools that the caller wants to be called without being asked, newest first',
    response: { 200: json('All of them', ApprovalListSchema) },
  });
  api.get('/run/v1/approvals', { schema: list }, async ({ principal }) => ({
    items: (await approvals.list(principal)).map(toApproval),
    next: null,
  }));

  const withdraw = describeRoute({
    tag: 'connections',
    id: 'withdrawApproval',
    summary: 'Be asked again',
    description: 'What has been sent by now stays sent.',
    response: { 200: json('It is withdrawn', ApprovalSchema) },
    problems: ['approval_not_found'],
  });
  api.delete(
    '/run/v1/approvals/:approval',
    { schema: { ...withdraw, params: ApprovalParamsSchema } },
    async ({ principal, params, ip }) => toApproval(await approvals.withdraw(principal, params.approval, ip)),
  );
}

function toApproval({ conversation, createdAt, ...approval }: OwnApproval): Approval {
  return { ...approval, conversationId: conversation, approvedAt: new Date(createdAt).toISOString() };
}
