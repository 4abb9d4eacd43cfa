/** What the two buttons do. Each answers with the page to show next. */
import { connectionKey } from '../../credentials/connection-key.ts';
import { CredentialStoreError } from '../../credentials/store.ts';
import { ProblemError } from '../errors.ts';
import type { ConnectDeps } from './deps.ts';
import type { Page } from './layout.ts';
import { connectedPage, declinedPage, finishedPage } from './outcome-pages.ts';
import { leaveTo } from './leave.ts';
import { failedPage } from './question-pages.ts';
import { findQuestion, viewOf } from './question.ts';
import type { ConnectionQuestion } from './question.ts';
import { sessionHash } from './session.ts';
import type { Session } from './session.ts';

export interface Decisions {
  connect(question: ConnectionQuestion, session: Session): Promise<Page>;
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

  async function connect(question: ConnectionQuestion, session: Session): Promise<Page> {
    const { row, server } = question;
    try {
      const { scopes } = row.request.context;
      return await leaveTo(stores.oauth, {
        server,
        key: connectionKey(server, row),
        elicitationId: row.id,
        sessionHash: sessionHash(session),
        ...(scopes && { scopes }),
      });
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      logger.warn(
        { server: server.name, elicitationId: row.id, reason: error.message },
        'connecting could not begin',
      );
      return failedPage(viewOf(question, config, session), error.message, true);
    }
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
      return declinedPage(server.title);
    } catch (error) {
      if (!(error instanceof ProblemError) || ![409, 410].includes(error.statusCode)) throw error;
      // Something else settled the question while the page was open.
      const found = await findQuestion(deps, row.id, session);
      if (found.kind === 'connected') return connectedPage(server.title, found.account, found.tooLate);
      return finishedPage(found.kind === 'finished' ? found.outcome : 'cancel');
    }
  }

  return { connect, refuse };
}
