/** What a person connects an account for on a page with Nango's script: a question, or a connection of their settings. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ServerConfig } from '../../../platform/config/config.ts';
import { ScopeQuerySchema, ServerParamsSchema } from '@interlude-ai/core/contract/connections.ts';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { ConnectionKey } from '../../../service/accounts.ts';
import { ProblemError } from '../../http/problems.ts';
import type { PageContext } from '../context.ts';
import { keepingReturn } from '../return-url.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';

export const goalSchema = z.union([
  z.object({ e: ElicitationIdSchema }),
  z.object({
    server: ServerParamsSchema.shape.server,
    /** Version of the connection that the page showed; 0: none. */
    seenVersion: z.int().min(0),
    scope: ScopeQuerySchema.shape.scope,
  }),
]);
export type Goal = z.infer<typeof goalSchema>;

export type GoalState =
  | {
      kind: 'open';
      server: ServerConfig;
      key: ConnectionKey;
      elicitationId: string | null;
      scopes: string[] | undefined;
    }
  /** Reached, or no longer reachable: the page at `url` says which. */
  | { kind: 'over'; url: string };

/** Does not ask Nango. A goal that is not this person's is refused and audited. */
export function findGoal(
  context: PageContext,
  goal: Goal,
  session: Session,
  request: FastifyRequest,
): Promise<GoalState> {
  return 'e' in goal
    ? ofQuestion(context, goal.e, session, request)
    : ofUser(context, goal, session, request);
}

async function ofQuestion(
  context: PageContext,
  id: string,
  session: Session,
  request: FastifyRequest,
): Promise<GoalState> {
  const { accounts, refusals } = context;
  const found = await accounts.findQuestion(id, session);
  switch (found.kind) {
    case 'unknown':
    case 'not-about-account':
      throw new ProblemError('elicitation_not_found', 'There is no such question.');
    case 'not-yours': {
      const { tenant } = found.row;
      const who = tenant === session.tenant ? 'another user' : 'another tenant';
      await refusals.record(request, who, { elicitationId: id, tenant });
      // Outside its tenant a question does not exist.
      throw tenant === session.tenant
        ? new ProblemError('not_your_question', 'Only the person who was asked can answer it.')
        : new ProblemError('elicitation_not_found', 'There is no such question.');
    }
    case 'connected':
    case 'finished':
      return over(context, `/auth/done?${new URLSearchParams({ e: id }).toString()}`, request);
    case 'shared':
      await refusals.record(request, 'connecting a shared account', { elicitationId: id });
      throw new ProblemError('forbidden', 'Only an operator can connect a shared account.');
    case 'open': {
      const { row, server } = found.question;
      const { scopes } = row.request.context;
      const key = { tenant: row.tenant, server: server.name, user: row.user };
      return { kind: 'open', server, key, elicitationId: id, scopes };
    }
    default:
      return found satisfies never;
  }
}

async function ofUser(
  context: PageContext,
  { server: name, seenVersion, scope }: Extract<Goal, { server: string }>,
  session: Session,
  request: FastifyRequest,
): Promise<GoalState> {
  const { config, accounts, refusals, mayChange } = context;
  const server = config.servers.get(name);
  const { tenant } = session;
  const key = { tenant, server: name, user: scope === 'project' ? null : session.user };
  const isTheirs = await mayChange(principalOf(session), key);
  if (!server || accounts.connectedBy(server) !== 'window' || server.credentialScope !== scope || !isTheirs) {
    await refusals.record(request, 'connecting what is not a connection of their own');
    throw new ProblemError('unknown_server', 'You have no such connection to change.');
  }
  if (await accounts.isConnectedSince(key, seenVersion))
    return over(context, `/connections?${new URLSearchParams({ connected: name }).toString()}`, request);
  return { kind: 'open', server, key, elicitationId: null, scopes: undefined };
}

function over({ config }: PageContext, path: string, request: FastifyRequest): GoalState {
  return { kind: 'over', url: keepingReturn(config.http.publicUrl + path, request) };
}
