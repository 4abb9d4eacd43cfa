/** `/auth/connect`: the question (GET) and the two buttons under it (POST); `/auth/done`: how it ended. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../contract/ids.ts';
import { createDecisions } from './decisions.ts';
import type { ConnectDeps } from './deps.ts';
import { isFromOurPage } from './form.ts';
import { sendPage } from './layout.ts';
import type { Page } from './layout.ts';
import { loginUrl } from './login.ts';
import {
  connectedPage,
  finishedPage,
  foreignFormPage,
  incompleteFormPage,
  refusedPage,
  signInAgainPage,
  unknownPage,
} from './outcome-pages.ts';
import { questionPage } from './question-pages.ts';
import { findQuestion, viewOf } from './question.ts';
import type { Found } from './question.ts';
import { displayName } from './session.ts';
import type { Session, Sessions } from './session.ts';

const query = z.object({ e: ElicitationIdSchema });
const form = z.object({
  e: ElicitationIdSchema,
  csrf: z.string(),
  action: z.enum(['connect', 'decline', 'cancel']),
});

export function questionRoutes(fastify: FastifyInstance, deps: ConnectDeps, sessions: Sessions): void {
  const { config, storage } = deps;
  const { publicUrl } = config.http;
  const decisions = createDecisions(deps);

  for (const path of ['/auth/connect', '/auth/done']) {
    fastify.get(path, async (request, reply) => {
      const link = query.safeParse(request.query);
      if (!link.success) return sendPage(reply, unknownPage());
      const session = sessions.read(request);
      if (!session) return reply.redirect(loginUrl(publicUrl, link.data.e), 303);
      const found = await findQuestion(deps, link.data.e, session);
      return sendPage(reply, await pageFor(found, session, request));
    });
  }

  fastify.post('/auth/connect', async (request, reply) => {
    const input = form.safeParse(request.body);
    if (!input.success) return sendPage(reply, incompleteFormPage());
    const { e, csrf, action } = input.data;
    const session = sessions.read(request);
    if (!session) {
      return sendPage(reply, signInAgainPage(loginUrl(publicUrl, e)));
    }
    const found = await findQuestion(deps, e, session);
    if (!isFromOurPage(request, publicUrl, session, csrf)) {
      await audit(session.tenant, e, session, request, 'form from another page');
      return sendPage(reply, foreignFormPage());
    }
    if (found.kind !== 'open') return sendPage(reply, await pageFor(found, session, request));
    return sendPage(
      reply,
      await (action === 'connect'
        ? decisions.connect(found.question, session)
        : decisions.refuse(found.question, action, session, request.ip)),
    );
  });

  async function pageFor(found: Found, session: Session, request: FastifyRequest): Promise<Page> {
    switch (found.kind) {
      case 'unknown':
        return unknownPage();
      case 'somebody-elses': {
        const { tenant, id } = found.row;
        const sameTenant = tenant === session.tenant;
        await audit(tenant, id, session, request, sameTenant ? 'another user' : 'another tenant');
        // Outside its tenant a question does not exist.
        return sameTenant
          ? refusedPage(displayName(session), loginUrl(publicUrl, id, 'other'))
          : unknownPage();
      }
      case 'open':
        return questionPage(viewOf(found.question, config, session));
      case 'connected':
        return connectedPage(found.question.server.title, found.account, found.tooLate);
      case 'finished':
        return finishedPage(found.outcome);
      default:
        return found satisfies never;
    }
  }

  function audit(
    tenant: string,
    elicitationId: string,
    session: Session,
    request: FastifyRequest,
    detail: string,
  ): Promise<void> {
    const actor = session.tenant === tenant ? session.user : `${session.tenant}/${session.user}`;
    return storage.audit.record({
      at: Date.now(),
      tenant,
      elicitationId,
      actor,
      action: 'refused',
      detail,
      address: request.ip,
    });
  }
}
