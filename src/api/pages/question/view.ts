/** A question as its pages need it. */
import type { ConnectionReason, UrlWarning } from '../../../elicitation/elicitation.ts';
import { whoAsks } from '../../../elicitation/asker.ts';
import type { ConnectionQuestion } from '../../../service/connection-question.ts';
import type { PagesParts } from '../context.ts';
import type { Session } from '../login/session.ts';
import { signedInAs } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';

export interface QuestionView extends SignedIn {
  elicitationId: string;
  serverTitle: string;
  host: string;
  message: string;
  /** Who asks: the agent, then those it delegated to. */
  askedBy: string[];
  reason: ConnectionReason;
  scopes: string[];
  warnings: UrlWarning[];
  deadline: Date;
  minutesLeft: number;
}

export function viewOf(
  { row, server }: ConnectionQuestion,
  { http, agents }: PagesParts['config'],
  session: Session,
): QuestionView {
  const { context, message } = row.request;
  const titleOf = (agent: string) => agents.get(agent)?.title ?? agent;
  return {
    elicitationId: row.id,
    serverTitle: server.title,
    host: context.host ?? server.title,
    message,
    askedBy: whoAsks(context).map(titleOf),
    reason: context.reason ?? 'missing',
    scopes: context.scopes ?? [],
    warnings: context.warnings ?? [],
    deadline: new Date(row.deadline),
    minutesLeft: Math.floor((row.deadline - Date.now()) / 60_000),
    ...signedInAs(session, http.publicUrl),
  };
}
