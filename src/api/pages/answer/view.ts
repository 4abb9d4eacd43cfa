/** A question that is answered on its page, as the page needs it. Pure. */
import { isApproval } from '../../../elicitation/approval.ts';
import { askerTitle, whoAsks } from '../../../elicitation/asker.ts';
import type { Context } from '../../../elicitation/elicitation.ts';
import type { Field } from '../../../elicitation/form/field.ts';
import { readRequestedSchema } from '../../../elicitation/form/requested-schema.ts';
import { plainLine, plainMessage } from '../../../elicitation/plain-text.ts';
import { inspectUrl } from '../../../elicitation/url-safety.ts';
import type { Question } from '../../../service/questions.ts';
import type { PagesParts } from '../context.ts';
import type { Session } from '../login/session.ts';
import { signedInAs } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';

export type Asked =
  | { kind: 'approval'; arguments: string | undefined; toolName: string | undefined }
  | { kind: 'form'; fields: Field[] }
  | { kind: 'link'; url: string; host: string };

export interface AnswerView extends SignedIn {
  elicitationId: string;
  asked: Asked;
  message: string;
  /** The server or tool that asks, or whose call it is about; undefined: the model asks. */
  asker: string | undefined;
  host: string | undefined;
  /** The agent, then those it delegated to. */
  askedBy: string[];
  warnings: NonNullable<Context['warnings']>;
  deadline: Date;
  minutesLeft: number;
}

export function answerView(
  { id, request, deadline }: Question,
  { http, agents }: PagesParts['config'],
  session: Session,
): AnswerView {
  const { context, message } = request;
  const titleOf = (agent: string) => agents.get(agent)?.title ?? agent;
  const asker = askerTitle({ ...context, agent: undefined });
  return {
    elicitationId: id,
    asked: askedOf(request),
    message: plainMessage(message),
    asker: asker === undefined ? undefined : plainLine(asker),
    host: context.host,
    askedBy: whoAsks(context).map(titleOf),
    warnings: context.warnings ?? [],
    deadline: new Date(deadline),
    minutesLeft: Math.floor((deadline - Date.now()) / 60_000),
    ...signedInAs(session, http.publicUrl),
  };
}

function askedOf(request: Question['request']): Asked {
  const { context } = request;
  if (request.mode === 'url') {
    const inspected = inspectUrl(request.url);
    return { kind: 'link', url: request.url, host: inspected.kind === 'ok' ? inspected.host : '' };
  }
  if (isApproval(context))
    return { kind: 'approval', arguments: context.arguments, toolName: context.toolName };
  const form = readRequestedSchema(request.requestedSchema);
  return { kind: 'form', fields: form.kind === 'form' ? form.fields : [] };
}
