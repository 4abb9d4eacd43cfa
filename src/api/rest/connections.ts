/** The accounts that a caller has connected, and the approvals they gave in advance: lists, and how to end them. */
import {
  ConnectionListSchema,
  DisconnectedSchema,
  ScopeQuerySchema,
  ServerParamsSchema,
} from '@interlude-ai/core/contract/connections.ts';
import type { Connection } from '@interlude-ai/core/contract/connections.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';
import type { OwnConnection } from '../../service/connections.ts';
import {
  ApprovalListSchema,
  ApprovalParamsSchema,
  ApprovalSchema,
} from '@interlude-ai/core/contract/approvals.ts';
import type { Approval } from '@interlude-ai/core/contract/approvals.ts';
import type { OwnApproval } from '../../service/approvals.ts';

export function connectionsSurface(api: Api, { connections }: Service): void {
  const list = describeRoute({
    tag: 'connections',
    id: 'listConnections',
    summary: "The caller's own connections, and the shared ones of the tenant",
    description: 'Servers that need an account and have none yet are among them, as `missing`.',
    response: { 200: json('All of them', ConnectionListSchema) },
  });
  api.get('/run/v1/connections', { schema: list }, async ({ principal }) => ({
    items: (await connections.list(principal)).map(toConnection),
    next: null,
  }));

  const remove = describeRoute({
    tag: 'connections',
    id: 'disconnect',
    summary: 'Disconnect an account',
    description:
      'Forgets it here in any case, and tells its provider where that is possible. Safe to repeat. A user ends their own; ' +
      'an operator ends a shared one, with `scope=project`.',
    response: { 200: json('It is not connected any more', DisconnectedSchema) },
    problems: ['forbidden', 'person_required', 'unknown_server'],
  });
  api.delete(
    '/run/v1/connections/:server',
    { schema: { ...remove, params: ServerParamsSchema, querystring: ScopeQuerySchema } },
    async ({ principal, params: { server }, query: { scope }, ip }) => {
      const { revokedAtProvider } = await connections.disconnect(principal, { server, scope }, ip);
      return { server, revokedAtProvider };
    },
  );
}

function toConnection({ server, serverTitle, host, scope, state }: OwnConnection): Connection {
  const { status } = state;
  const common = { server, serverTitle, host, scope, status };
  if (status === 'missing') return { ...common, account: null, scopes: [], connectedAt: null };
  const { account, scopes, createdAt } = state.row;
  return {
    ...common,
    ...(status === 'broken' && { reason: state.reason }),
    account,
    scopes,
    connectedAt: new Date(createdAt).toISOString(),
  };
}

export function approvalsSurface(api: Api, { approvals }: Service): void {
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
