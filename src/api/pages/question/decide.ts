/** What the buttons of a question's page do. Each function returns the page to show next, or a redirect to it. */
import { connectionsAddress } from '../../../elicitation/account-pages.ts';
import { CredentialStoreError } from '../../../service/accounts.ts';
import type { ConnectionKey } from '../../../service/accounts.ts';
import type { ConnectionQuestion } from '../../../service/connection-question.ts';
import { refusedAnswer } from '../../../service/refused-answer.ts';
import { requireNango } from '../context.ts';
import type { NangoConnecting, PageContext } from '../context.ts';
import { keyProblemOf, keyQuestionPage } from '../key/pages.ts';
import type { KeyProblem } from '../key/pages.ts';
import type { Page, Redirect } from '../layout.ts';
import { leaveByNango, leaveTo } from '../leave.ts';
import { sessionHash } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { questionWithNango } from '../nango/pages.ts';
import { connectedPage, finishedPage, refusedQuestionPage } from '../outcome-pages.ts';
import { keepingReturn } from '../return-url.ts';
import { failedPage } from './pages.ts';
import { viewOf } from './view.ts';
import { aboutTurn } from '../../../telemetry/events.ts';

/** Who pressed the button, and the IP address for the audit. */
export interface Person {
  session: Session;
  address: string;
}

/** `entered`: an API key, if the form had one. */
export function connect(
  context: PageContext,
  question: ConnectionQuestion,
  person: Person,
  entered: string | undefined,
): Promise<Page | Redirect> {
  const connectedBy = context.accounts.connectedBy(question.server);
  switch (connectedBy) {
    case 'key':
      return giveKey(context, question, person, entered);
    case 'window':
      return connectByNango(context, requireNango(context), question, person);
    case 'sign-in':
      return connectByOAuth(context, question, person);
    default:
      return connectedBy satisfies never;
  }
}

async function connectByOAuth(
  context: PageContext,
  question: ConnectionQuestion,
  { session }: Person,
): Promise<Page> {
  const { row, server } = question;
  try {
    const { scopes } = row.request.context;
    return await leaveTo(context.accounts, {
      server,
      key: keyOf(question),
      elicitationId: row.id,
      sessionHash: sessionHash(session),
      returnUrl: session.returnUrl,
      ...(scopes && { scopes }),
    });
  } catch (error) {
    return couldNotBegin(context, question, session, error);
  }
}

/** In this window: for browsers that run no scripts or block pop-ups. */
async function connectByNango(
  context: PageContext,
  nango: NangoConnecting,
  question: ConnectionQuestion,
  { session, address }: Person,
): Promise<Page | Redirect> {
  const { row, server } = question;
  const key = keyOf(question);
  try {
    const attempts = await nango.lookBack(key, row.id, address);
    if (attempts.length > 0 && (await context.accounts.findQuestion(row.id, session)).kind !== 'open')
      return toOutcome(context, row.id, session);
    const { scopes } = row.request.context;
    return await leaveByNango(nango, {
      server,
      key,
      elicitationId: row.id,
      actor: session.user,
      scopes,
    });
  } catch (error) {
    const page = couldNotBegin(context, question, session, error);
    return questionWithNango(page, viewOf(question, context.config, session), nango.script);
  }
}

async function giveKey(
  context: PageContext,
  question: ConnectionQuestion,
  { session, address }: Person,
  entered: string | undefined,
): Promise<Page | Redirect> {
  const { row, server } = question;
  const show = (problem?: KeyProblem) =>
    keyQuestionPage(viewOf(question, context.config, session), server.vault?.hint, problem);
  if (entered === undefined) return show();
  const refused = await context.accounts.giveKey({
    server,
    key: keyOf(question),
    entered,
    actor: session.user,
    address,
    elicitationId: row.id,
  });
  return refused ? show(keyProblemOf(refused)) : toOutcome(context, row.id, session);
}

export async function refuse(
  context: PageContext,
  question: ConnectionQuestion,
  { session, address }: Person,
  action: 'decline' | 'cancel',
): Promise<Page> {
  const { row, server } = question;
  const { tenant, user } = session;
  try {
    const answer = { elicitationId: row.id, response: { action }, address };
    await context.answer({ kind: 'user', tenant, user }, answer);
    const connectionsUrl = keepingReturn(connectionsAddress(context.config.http.publicUrl), session);
    return refusedQuestionPage(action, server.title, connectionsUrl);
  } catch (error) {
    if (refusedAnswer(error)?.kind !== 'over') throw error;
    // Something else settled the question while the page was open.
    const found = await context.accounts.findQuestion(row.id, session);
    if (found.kind === 'connected') return connectedPage(server.title, found.account, found.tooLate);
    return finishedPage(found.kind === 'finished' ? found.outcome : 'cancel');
  }
}

function couldNotBegin(
  { config, logger }: PageContext,
  question: ConnectionQuestion,
  session: Session,
  error: unknown,
): Page {
  if (!(error instanceof CredentialStoreError)) throw error;
  const { message, forOperator: reason } = error;
  const { row, server } = question;
  logger.warn(
    { ...aboutTurn(row), server: server.name, elicitationId: row.id, reason },
    'connecting could not begin',
  );
  return failedPage(viewOf(question, config, session), message, true);
}

function toOutcome({ config }: PageContext, elicitationId: string, session: Session): Redirect {
  const address = `${config.http.publicUrl}/auth/done?${new URLSearchParams({ e: elicitationId }).toString()}`;
  return { redirectTo: keepingReturn(address, session) };
}

/** The key of the asked user's own account: shared accounts are connected on another page. */
function keyOf({ row: { tenant, user }, server: { name: server } }: ConnectionQuestion): ConnectionKey {
  return { tenant, server, user };
}
