/** `/auth/connect`: the question (GET) and its buttons (POST); `/auth/done`: how it ended. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../../contract/http.ts';
import { answerAddress } from '../../../elicitation/account-pages.ts';
import type { ConnectionQuestion, FoundQuestion } from '../../../service/accounts.ts';
import { refusedAnswer } from '../../../service/service-error.ts';
import { aboutTurn } from '../../../telemetry/events.ts';
import { connect } from '../connect.ts';
import type { ConnectGoal, Person } from '../connect.ts';
import type { PageContext } from '../context.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { keyQuestionPage } from '../key-pages.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { questionWithNango } from '../nango/pages.ts';
import { connectedPage, finishedPage, refusedQuestionPage, unknownPage } from '../outcome-pages.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { readForm, somebodyElsesPage } from '../guard.ts';
import { failedPage, questionPage, sharedQuestionPage, viewOf } from './pages.ts';

const query = z.object({ e: ElicitationIdSchema });
const form = z.object({
  e: ElicitationIdSchema,
  csrf: z.string(),
  action: z.enum(['connect', 'decline', 'cancel']),
  /** An API key, if the server needs one. */
  key: z.string().optional(),
});

export function questionRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, accounts, sessions, refusals, askedQuestion } = context;
  const { publicUrl } = config.http;

  for (const path of ['/auth/connect', '/auth/done']) {
    fastify.get(path, async (request, reply) => {
      const link = query.safeParse(request.query);
      if (!link.success) return sendPage(reply, unknownPage());
      const session = sessions.read(request);
      if (!session) return reply.redirect(loginUrl(publicUrl, link.data.e, request), 303);
      const found = await accounts.findQuestion(link.data.e, session);
      // Questions that are not for an account are at `/auth/answer`.
      const asked = found.kind === 'unknown' && (await askedQuestion(principalOf(session), link.data.e));
      if (asked && (asked.kind === 'own' ? !asked.isAboutAccount : asked.kind === 'somebody-elses'))
        return reply.redirect(keepingReturn(answerAddress(publicUrl, link.data.e), request), 303);
      return sendPage(reply, await pageFor(context, found, session, request));
    });
  }

  fastify.post('/auth/connect', async (request, reply) => {
    const read = await readForm(context, form, request, reply);
    if (!read) return reply;
    const { session, input } = read;
    const { e, action, key } = input;
    const found = await accounts.findQuestion(e, session);
    if (found.kind === 'finished' || found.kind === 'unknown')
      await refusals.record(request, 'an answer nobody waits for', { elicitationId: e });
    const person = { session, address: request.ip };
    if (action !== 'connect' && (found.kind === 'open' || found.kind === 'shared'))
      return sendPage(reply, await refuse(context, found.question, person, action));
    if (found.kind === 'shared') {
      await refusals.record(request, 'connecting a shared account', { elicitationId: e });
      return sendPage(reply, { ...(await pageFor(context, found, session, request)), status: 403 });
    }
    if (found.kind !== 'open') return sendPage(reply, await pageFor(context, found, session, request));
    return sendPage(reply, await connectFor(context, found.question, person, key));
  });
}

async function pageFor(
  context: PageContext,
  found: FoundQuestion,
  session: Session,
  request: FastifyRequest,
): Promise<Page> {
  const { config, accounts, nango, mayChange } = context;
  switch (found.kind) {
    case 'unknown':
      return unknownPage();
    case 'somebody-elses': {
      const { tenant, id } = found.row;
      return somebodyElsesPage(context, { elicitationId: id, tenant }, session, request);
    }
    case 'open': {
      const { server } = found.question;
      const view = viewOf(found.question, config, session);
      const connectedBy = accounts.connectedBy(server);
      switch (connectedBy) {
        case 'key':
          return keyQuestionPage(view, server.vault?.hint);
        case 'window':
          return questionWithNango(questionPage(view), view, nango?.script ?? null);
        case 'sign-in':
          return questionPage(view);
        default:
          return connectedBy satisfies never;
      }
    }
    case 'shared': {
      const { server, row } = found.question;
      const { tenant } = row;
      const key = { tenant, server: server.name, user: null };
      return sharedQuestionPage(viewOf(found.question, config, session), {
        tenant,
        contact: server.contact,
        mayChange: await mayChange(principalOf(session), key),
      });
    }
    case 'connected':
      return connectedPage(found.question.server.title, found.account, found.tooLate);
    case 'finished':
      return finishedPage(found.outcome);
    default:
      return found satisfies never;
  }
}

function connectFor(
  context: PageContext,
  question: ConnectionQuestion,
  person: Person,
  entered: string | undefined,
): Promise<Page | Redirect> {
  const { config, accounts, nango } = context;
  const { row, server } = question;
  const { session } = person;
  const view = viewOf(question, config, session);
  const query = new URLSearchParams({ e: row.id }).toString();
  const goal: ConnectGoal = {
    server,
    // The asked user's own account: shared accounts are connected on the settings page.
    key: { tenant: row.tenant, server: server.name, user: row.user },
    elicitationId: row.id,
    scopes: row.request.context.scopes,
    doneUrl: keepingReturn(`${config.http.publicUrl}/auth/done?${query}`, session),
    isReached: async (attempts) =>
      attempts > 0 && (await accounts.findQuestion(row.id, session)).kind !== 'open',
    keyPage: (problem) => keyQuestionPage(view, server.vault?.hint, problem),
    failedPage(message) {
      const page = failedPage(view, message, true);
      const isByNango = accounts.connectedBy(server) === 'window';
      return isByNango ? questionWithNango(page, view, nango?.script ?? null) : page;
    },
    logFields: { ...aboutTurn(row), elicitationId: row.id },
  };
  return connect(context, goal, person, entered);
}

async function refuse(
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
    const connectionsUrl = settingsUrl(context.config.http.publicUrl, session);
    return refusedQuestionPage(action, server.title, connectionsUrl);
  } catch (error) {
    if (refusedAnswer(error)?.kind !== 'over') throw error;
    // Something else settled the question while the page was open.
    const found = await context.accounts.findQuestion(row.id, session);
    if (found.kind === 'connected') return connectedPage(server.title, found.account, found.tooLate);
    return finishedPage(found.kind === 'finished' ? found.outcome : 'cancel');
  }
}
