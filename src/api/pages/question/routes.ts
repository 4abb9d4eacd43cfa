/** `/auth/connect`: the question (GET) and its buttons (POST); `/auth/done`: how it ended. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../../contract/ids.ts';
import { answerAddress } from '../../../elicitation/account-pages.ts';
import type { FoundQuestion } from '../../../service/connection-question.ts';
import type { PageContext } from '../context.ts';
import { isFromOurPage } from '../csrf.ts';
import { keyQuestionPage } from '../key/pages.ts';
import { sendPage } from '../layout.ts';
import type { Page } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { questionWithNango } from '../nango/pages.ts';
import {
  connectedPage,
  finishedPage,
  foreignFormPage,
  incompleteFormPage,
  signInAgainPage,
  unknownPage,
} from '../outcome-pages.ts';
import { keepingReturn } from '../return-url.ts';
import { somebodyElsesPage } from '../somebody-elses.ts';
import { questionPage } from './pages.ts';
import { connect, refuse } from './decide.ts';
import { viewOf } from './view.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { sharedQuestionPage } from './shared-account-pages.ts';

const query = z.object({ e: ElicitationIdSchema });
const form = z.object({
  e: ElicitationIdSchema,
  csrf: z.string(),
  action: z.enum(['connect', 'decline', 'cancel']),
  /** An API key, where one is asked for. */
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
      // What is not about an account has a page of its own.
      const asked = found.kind === 'unknown' && (await askedQuestion(principalOf(session), link.data.e));
      if (asked && (asked.kind === 'own' ? !asked.isAboutAccount : asked.kind === 'somebody-elses'))
        return reply.redirect(keepingReturn(answerAddress(publicUrl, link.data.e), request), 303);
      return sendPage(reply, await pageFor(context, found, session, request));
    });
  }

  fastify.post('/auth/connect', async (request, reply) => {
    const input = form.safeParse(request.body);
    if (!input.success) {
      await refusals.record(request, 'an incomplete form');
      return sendPage(reply, incompleteFormPage());
    }
    const { e, csrf, action, key } = input.data;
    const session = sessions.read(request);
    if (!session) {
      await refusals.record(request, 'a form without a session', { elicitationId: e });
      return sendPage(reply, signInAgainPage(loginUrl(publicUrl, e, request)));
    }
    const found = await accounts.findQuestion(e, session);
    if (!isFromOurPage(request, publicUrl, session, csrf)) {
      await refusals.record(request, 'form from another page', { elicitationId: e });
      return sendPage(reply, foreignFormPage());
    }
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
    return sendPage(reply, await connect(context, found.question, person, key));
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
