/** `/auth/answer`: a form, an approval or a link (GET), and its buttons (POST). Questions for accounts are at `/auth/connect`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../../contract/http.ts';
import type { ElicitationResponse } from '../../../elicitation/elicitation.ts';
import { coerceContent } from '../../../elicitation/form/coerce-content.ts';
import { questionAddress } from '../../../elicitation/account-pages.ts';
import type { AskedQuestion, Question } from '../../../service/questions.ts';
import { refusedAnswer } from '../../../service/service-error.ts';
import type { PageContext } from '../context.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { unknownPage } from '../outcome-pages.ts';
import { keepingReturn } from '../return-url.ts';
import { readForm, somebodyElsesPage } from '../guard.ts';
import { answerPage, onwardPage, settledPage, answerView } from './pages.ts';
import type { Asked } from './pages.ts';
import { typedIn, withPlainLines } from './form-fields.ts';
import type { Typed } from './form-fields.ts';

const query = z.object({ e: ElicitationIdSchema });
const form = z.looseObject({
  e: ElicitationIdSchema,
  csrf: z.string(),
  action: z.enum(['accept', 'decline', 'cancel']),
  remember: z.enum(['', 'conversation', 'always']).default(''),
  reason: z.string().transform(withPlainLines).pipe(z.string().max(1_000)).default(''),
});

type Own = Extract<AskedQuestion, { kind: 'own' }>;

export function answerRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, sessions, askedQuestion } = context;
  const { publicUrl, bodyLimit } = config.http;

  fastify.get('/auth/answer', async (request, reply) => {
    const link = query.safeParse(request.query);
    if (!link.success) return sendPage(reply, unknownPage());
    const session = sessions.read(request);
    if (!session) return reply.redirect(loginUrl(publicUrl, link.data.e, request), 303);
    const asked = await askedQuestion(principalOf(session), link.data.e);
    if (asked.kind !== 'own')
      return sendPage(reply, await notTheirs(context, asked, link.data.e, session, request));
    return sendPage(reply, pageFor(context, asked, session));
  });

  // The same limit as for answers through the API.
  fastify.post('/auth/answer', { bodyLimit }, async (request, reply) => {
    const read = await readForm(context, form, request, reply);
    if (!read) return reply;
    const { input, session } = read;
    const asked = await askedQuestion(principalOf(session), input.e);
    if (asked.kind !== 'own')
      return sendPage(reply, await notTheirs(context, asked, input.e, session, request));
    if (asked.isAboutAccount || asked.question.status !== 'pending')
      return sendPage(reply, pageFor(context, asked, session));
    return sendPage(reply, await answer(context, asked.question, session, input, request));
  });
}

async function notTheirs(
  context: PageContext,
  asked: Exclude<AskedQuestion, Own>,
  elicitationId: string,
  session: Session,
  request: FastifyRequest,
): Promise<Page> {
  if (asked.kind === 'unknown') return unknownPage();
  return somebodyElsesPage(context, { elicitationId, tenant: asked.tenant }, session, request);
}

function pageFor(
  { config, now }: PageContext,
  { question, isAboutAccount }: Own,
  session: Session,
): Page | Redirect {
  if (isAboutAccount) {
    // If its server is no longer in the agents file, the question cannot be answered.
    if (!config.servers.has(question.request.context.server ?? '')) return unknownPage();
    return { redirectTo: keepingReturn(questionAddress(config.http.publicUrl, question.id), session) };
  }
  const view = answerView(question, config, session);
  if (question.status !== 'pending') return settledPage(view, question.status, 'before');
  return question.deadline > now() ? answerPage(view) : settledPage(view, 'expired', 'before');
}

/** Returns the page to show next. */
async function answer(
  context: PageContext,
  question: Question,
  session: Session,
  given: z.infer<typeof form>,
  request: FastifyRequest,
): Promise<Page | Redirect> {
  const { config, askedQuestion } = context;
  const view = answerView(question, config, session);
  const typed = typedIn(view.asked.kind === 'form' ? view.asked.fields : [], given);
  try {
    const answered = await context.answer(principalOf(session), {
      elicitationId: question.id,
      response: responseOf(view.asked, given, typed),
      address: request.ip,
    });
    if (given.action === 'accept' && view.asked.kind === 'link') return onwardPage(view.asked);
    if (answered.kind !== 'recorded') throw new Error('Only a link waits for more than its answer.');
    return settledPage(view, answered.outcome, 'now');
  } catch (error) {
    const refused = refusedAnswer(error);
    if (!refused) throw error;
    switch (refused.kind) {
      case 'misfit': {
        const problems = new Map(refused.issues.map(({ path, detail }) => [path.at(-1) ?? '', detail]));
        const known = view.asked.kind === 'form' && view.asked.fields.some(({ name }) => problems.has(name));
        return answerPage(view, { typed, problems, ...(!known && { problem: refused.message }) });
      }
      case 'over': {
        // Something else settled the question while the page was open.
        const now = await askedQuestion(principalOf(session), question.id);
        return now.kind === 'own' ? pageFor(context, now, session) : unknownPage();
      }
      case 'person':
        throw error;
      default:
        return refused satisfies never;
    }
  }
}

function responseOf(asked: Asked, given: z.infer<typeof form>, typed: Typed): ElicitationResponse {
  const { action, remember } = given;
  const reason = given.reason.trim();
  switch (action) {
    case 'cancel':
      return { action };
    case 'decline':
      return { action, ...(asked.kind === 'approval' && reason !== '' && { reason }) };
    case 'accept':
      switch (asked.kind) {
        case 'link':
          return { action };
        case 'approval':
          return { action, content: {}, ...(remember !== '' && { remember }) };
        case 'form':
          return { action, content: coerceContent(asked.fields, typed) };
        default:
          return asked satisfies never;
      }
    default:
      return action satisfies never;
  }
}
