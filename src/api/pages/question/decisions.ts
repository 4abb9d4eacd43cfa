/** What the buttons of a question do. Each answers with the page to show next. */
import { CredentialStoreError } from '../../../credentials/store-error.ts';
import { connectionsAddress } from '../../../elicitation/account-pages.ts';
import type { ConnectionKey } from '../../../storage/ports/connections.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { ServiceErrorCode } from '../../../service/service-error.ts';
import type { ConnectDeps } from '../deps.ts';
import { createEnterKey } from '../key/entry.ts';
import { keyQuestionPage } from '../key/pages.ts';
import type { KeyProblem } from '../key/pages.ts';
import type { Page, Redirect } from '../layout.ts';
import type { NangoConnecting } from '../nango/connecting.ts';
import { questionWithNango } from '../nango/pages.ts';
import { connectedPage, finishedPage, refusedQuestionPage } from '../outcome-pages.ts';
import { leaveByNango, leaveTo } from '../leave.ts';
import { failedPage } from './pages.ts';
import type { QuestionView } from './pages.ts';
import { keepingReturn } from '../return-url.ts';
import { findQuestion, viewOf } from './find-question.ts';
import type { ConnectionQuestion } from './find-question.ts';
import { sessionHash } from '../login/session.ts';
import type { Session } from '../login/session.ts';

export interface Decisions {
  connect(question: ConnectionQuestion, session: Session): Promise<Page>;
  /** The way without a script, or for a browser that opens no windows. */
  connectByNango(
    nango: NangoConnecting,
    question: ConnectionQuestion,
    session: Session,
    address: string,
  ): Promise<Page | Redirect>;
  /** `entered`: an API key, if the form had one. */
  giveKey(
    question: ConnectionQuestion,
    entered: string | undefined,
    session: Session,
    address: string,
  ): Promise<Page | Redirect>;
  /** `address`: where the answer came from, for the audit. */
  refuse(
    question: ConnectionQuestion,
    action: 'decline' | 'cancel',
    session: Session,
    address: string,
  ): Promise<Page>;
}

export function createDecisions(deps: ConnectDeps): Decisions {
  const { config, stores, answer, logger } = deps;
  const enterKey = createEnterKey(deps);

  async function connect(question: ConnectionQuestion, session: Session): Promise<Page> {
    const { row, server } = question;
    try {
      const { scopes } = row.request.context;
      return await leaveTo(stores.oauth, {
        server,
        key: keyOf(question),
        elicitationId: row.id,
        sessionHash: sessionHash(session),
        returnUrl: session.returnUrl,
        ...(scopes && { scopes }),
      });
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      return couldNotBegin(error, question, viewOf(question, config, session));
    }
  }

  async function connectByNango(
    nango: NangoConnecting,
    question: ConnectionQuestion,
    session: Session,
    address: string,
  ): Promise<Page | Redirect> {
    const { row, server } = question;
    const key = keyOf(question);
    try {
      const begun = await nango.lookBack(key, row.id, address);
      if (begun.length > 0 && (await findQuestion(deps, row.id, session)).kind !== 'open')
        return done(row.id, session);
      const { scopes } = row.request.context;
      return await leaveByNango(nango.store, {
        server,
        key,
        elicitationId: row.id,
        actor: session.user,
        scopes,
      });
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      const view = viewOf(question, config, session);
      return questionWithNango(couldNotBegin(error, question, view), view, nango.script);
    }
  }

  function couldNotBegin(
    { message, forOperator: reason }: CredentialStoreError,
    { row, server }: ConnectionQuestion,
    view: QuestionView,
  ): Page {
    logger.warn({ server: server.name, elicitationId: row.id, reason }, 'connecting could not begin');
    return failedPage(view, message, true);
  }

  function done(elicitationId: string, session: Session): Redirect {
    const address = `${config.http.publicUrl}/auth/done?${new URLSearchParams({ e: elicitationId }).toString()}`;
    return { redirectTo: keepingReturn(address, session) };
  }

  async function giveKey(
    question: ConnectionQuestion,
    entered: string | undefined,
    session: Session,
    address: string,
  ): Promise<Page | Redirect> {
    const { row, server } = question;
    const show = (problem?: KeyProblem) =>
      keyQuestionPage(viewOf(question, config, session), server.vault?.hint, problem);
    if (entered === undefined) return show();
    const key = keyOf(question);
    const { user } = session;
    const problem = await enterKey({ server, key, entered, user, address, elicitationId: row.id });
    if (problem) return show(problem);
    return done(row.id, session);
  }

  async function refuse(
    question: ConnectionQuestion,
    action: 'decline' | 'cancel',
    session: Session,
    address: string,
  ): Promise<Page> {
    const { row, server } = question;
    try {
      await answer(
        row,
        { action },
        { kind: 'user', tenant: session.tenant, user: session.user },
        { address },
      );
      return refusedQuestionPage(
        action,
        server.title,
        keepingReturn(connectionsAddress(config.http.publicUrl), session),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || !settled.includes(error.code)) throw error;
      // Something else settled the question while the page was open.
      const found = await findQuestion(deps, row.id, session);
      if (found.kind === 'connected') return connectedPage(server.title, found.account, found.tooLate);
      return finishedPage(found.kind === 'finished' ? found.outcome : 'cancel');
    }
  }

  return { connect, connectByNango, giveKey, refuse };
}

/** What an answer is refused with once its question has ended. */
const settled: ServiceErrorCode[] = ['already_answered', 'expired', 'turn_over'];

/** The asked user's own: what everybody shares is connected on another page. */
function keyOf({ row: { tenant, user }, server: { name: server } }: ConnectionQuestion): ConnectionKey {
  return { tenant, server, user };
}
