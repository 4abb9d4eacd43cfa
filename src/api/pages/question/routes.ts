/**
 * A question to a person. `/auth/answer` and `/auth/connect` show it (GET) and take its buttons (POST), whatever it is about;
 * `/auth/done`, to which people come back from a provider, shows it as well.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import { problemOfRefused } from '@interlude-ai/core/elicitation/form/shown-field.ts';
import type { ConnectionQuestion, FoundQuestion } from '../../../service/accounts.ts';
import type { Question } from '../../../service/questions.ts';
import { refusedAnswer } from '../../../service/service-error.ts';
import { aboutTurn } from '../../../platform/telemetry/events.ts';
import { connect } from '../connect.ts';
import type { ConnectGoal, Person } from '../connect.ts';
import type { PageContext } from '../context.ts';
import { longestForm, onForm } from '../guarded-form.ts';
import { keyQuestionPage } from '../key-pages.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { loginUrl } from '../login/routes.ts';
import { displayName, principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { questionWithNango } from '../nango/pages.ts';
import { connectedPage, finishedPage, notice, refusedPage, refusedQuestionPage } from '../outcome-pages.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { accountPage, accountView, failedPage, sharedQuestionPage } from './account-pages.ts';
import { answerPage, askedIn, onwardPage, settledPage } from './answer-pages.ts';
import type { Asked, Refused } from './answer-pages.ts';
import { typedIn, withPlainLines } from './form-fields.ts';
import type { Typed } from './form-fields.ts';
import { wordsFor, wordsOf } from '../words.ts';
import type { PageWords } from '../words.ts';
import { questionView } from './question-page.ts';

const query = z.object({ e: ElicitationIdSchema });
const input = z.looseObject({
  e: ElicitationIdSchema,
  action: z.enum(['accept', 'connect', 'decline', 'cancel']),
  /** Of an account: an API key, if the server needs one. */
  key: z.string().optional(),
  /** Of an approval. */
  remember: z.enum(['', 'conversation', 'always']).default(''),
  reason: z.string().transform(withPlainLines).pipe(z.string().max(longestReason)).default(''),
});
type Input = z.infer<typeof input>;

export function questionRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, accounts, sessions, refusals } = context;
  const { publicUrl, bodyLimit } = config.http;

  for (const path of ['/auth/answer', '/auth/connect', '/auth/done']) {
    fastify.get(path, async (request, reply) => {
      const link = query.safeParse(request.query);
      if (!link.success) return sendPage(reply, notice(wordsOf(request), 404, 'unknown'));
      const session = sessions.read(request);
      if (!session) return reply.redirect(loginUrl(publicUrl, link.data.e, request), 303);
      return sendPage(reply, await show(context, link.data.e, session, request));
    });
  }

  for (const path of ['/auth/answer', '/auth/connect']) {
    onForm(fastify, context, {
      path,
      input,
      // The same limit as for answers through the API.
      bodyLimit: Math.max(bodyLimit, longestForm),
      page: pageOfForm,
      async handle({ input: given, session, request }) {
        const { e, action } = given;
        const found = await accounts.findQuestion(e, session);
        const person = { session, address: request.ip };
        switch (found.kind) {
          case 'not-about-account':
            if (action === 'connect') break;
            if (found.question.status !== 'pending') return pageOf(context, found, session, request);
            return answer(context, found.question, { ...given, action }, person, request);
          case 'open':
            if (action === 'accept') break;
            if (action === 'connect') return connectFor(context, found.question, person, given.key);
            return refuse(context, found.question, action, person, request);
          case 'shared':
            if (action === 'accept') break;
            if (action !== 'connect') return refuse(context, found.question, action, person, request);
            await refusals.record(request, 'connecting a shared account', { elicitationId: e });
            return { ...(await pageOf(context, found, session, request)), status: 403 };
          case 'finished':
          case 'unknown':
            await refusals.record(request, 'an answer nobody waits for', { elicitationId: e });
            return pageOf(context, found, session, request);
          case 'connected':
          case 'not-yours':
            return pageOf(context, found, session, request);
          default:
            return found satisfies never;
        }
        // The button is not one of this question.
        await refusals.record(request, 'an incomplete form');
        return notice(wordsOf(request), 400, 'incompleteForm', pageOfForm(request));
      },
    });
  }

  function pageOfForm(request: FastifyRequest): string | undefined {
    const { data } = query.safeParse(request.body);
    return data && keepingReturn(answerAddress(publicUrl, data.e), request);
  }
}

async function show(context: PageContext, id: string, session: Session, request: FastifyRequest) {
  return pageOf(context, await context.accounts.findQuestion(id, session), session, request);
}

async function pageOf(
  context: PageContext,
  found: FoundQuestion,
  session: Session,
  request: FastifyRequest,
): Promise<Page> {
  const { config, accounts, nango, mayChange, now } = context;
  const words = wordsFor(session.language);
  switch (found.kind) {
    case 'unknown':
      return notice(words, 404, 'unknown');
    case 'not-yours': {
      const { tenant, id: elicitationId } = found.row;
      const isSameTenant = tenant === session.tenant;
      const who = isSameTenant ? 'another user' : 'another tenant';
      await context.refusals.record(request, who, { elicitationId, tenant });
      // Outside its tenant a question does not exist.
      if (!isSameTenant) return notice(words, 404, 'unknown');
      const signInUrl = loginUrl(config.http.publicUrl, elicitationId, request, { as: 'other' });
      return refusedPage(words, displayName(session), signInUrl);
    }
    case 'not-about-account': {
      const { question } = found;
      const asked = askedIn(question.request);
      if (question.status !== 'pending') return settledPage(words, asked, question.status, 'before');
      if (question.deadline <= now()) return settledPage(words, asked, 'expired', 'before');
      return answerPage(questionView(question, config, session), asked);
    }
    case 'open': {
      const { server } = found.question;
      const view = accountView(found.question, config, session);
      const connectedBy = accounts.connectedBy(server);
      switch (connectedBy) {
        case 'key':
          return keyQuestionPage(view, server.vault?.hint);
        case 'window':
          return questionWithNango(accountPage(view), view, nango?.script ?? null);
        case 'sign-in':
          return accountPage(view);
        default:
          return connectedBy satisfies never;
      }
    }
    case 'shared': {
      const { server, row } = found.question;
      const key = { tenant: row.tenant, server: server.name, user: null };
      const mayConnect = await mayChange(principalOf(session), key);
      return sharedQuestionPage(accountView(found.question, config, session), server.contact, mayConnect);
    }
    case 'connected':
      return connectedPage(words, found.question.server.title, found.account, found.tooLate);
    case 'finished':
      return finishedPage(words, found.outcome);
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
  const view = accountView(question, config, session);
  const goal: ConnectGoal = {
    server,
    // The asked user's own account: shared accounts are connected on the settings page.
    key: { tenant: row.tenant, server: server.name, user: row.user },
    elicitationId: row.id,
    scopes: row.request.context.scopes,
    doneUrl: keepingReturn(`${config.http.publicUrl}/auth/done?e=${row.id}`, session),
    isReached: async (attempts) =>
      attempts > 0 && (await accounts.findQuestion(row.id, session)).kind !== 'open',
    keyPage: (problem) => keyQuestionPage(view, server.vault?.hint, problem),
    failedPage(trouble) {
      const page = failedPage(view, view.words.account.trouble(trouble), true);
      const isByNango = accounts.connectedBy(server) === 'window';
      return isByNango ? questionWithNango(page, view, nango?.script ?? null) : page;
    },
    logFields: { ...aboutTurn(row), elicitationId: row.id },
  };
  return connect(context, goal, person, entered);
}

async function refuse(
  context: PageContext,
  { row, server }: ConnectionQuestion,
  action: 'decline' | 'cancel',
  { session, address }: Person,
  request: FastifyRequest,
): Promise<Page> {
  try {
    await context.answer(principalOf(session), { elicitationId: row.id, response: { action }, address });
  } catch (error) {
    // Something else settled the question while the page was open.
    if (refusedAnswer(error)?.kind === 'over') return show(context, row.id, session, request);
    throw error;
  }
  const connectionsUrl = settingsUrl(context.config.http.publicUrl, session);
  return refusedQuestionPage(wordsFor(session.language), action, server.title, connectionsUrl);
}

interface Answer extends Input {
  action: ElicitationResponse['action'];
}

async function answer(
  context: PageContext,
  question: Question,
  given: Answer,
  { session, address }: Person,
  request: FastifyRequest,
): Promise<Page> {
  const { id, request: about } = question;
  const words = wordsFor(session.language);
  const asked = askedIn(about);
  const typed = typedIn(asked.kind === 'form' ? asked.fields : [], given);
  const response = responseOf(asked, given, typed);
  try {
    const answered = await context.answer(principalOf(session), { elicitationId: id, response, address });
    if (given.action === 'accept' && asked.kind === 'link') return onwardPage(words, asked);
    if (answered.kind !== 'recorded') throw new Error('Only a link waits for more than its answer.');
    return settledPage(words, asked, answered.outcome, 'now');
  } catch (error) {
    const refused = refusedAnswer(error);
    // Something else settled the question while the page was open.
    if (refused?.kind === 'over') return show(context, id, session, request);
    if (refused?.kind !== 'misfit') throw error;
    const view = questionView(question, context.config, session);
    return answerPage(view, asked, { typed, ...problemsOf(words, asked, response, refused.issues) });
  }
}

function responseOf(asked: Asked, { action, remember, reason }: Answer, typed: Typed): ElicitationResponse {
  const why = reason.trim();
  if (action === 'cancel' || asked.kind === 'link') return { action };
  if (action === 'decline')
    return { action, ...(asked.kind === 'approval' && why !== '' && { reason: why }) };
  if (asked.kind === 'form') return { action, content: coerceContent(asked.fields, typed) };
  return { action, content: {}, ...(remember !== '' && { remember }) };
}

function problemsOf(
  words: PageWords,
  asked: Asked,
  { content = {} }: ElicitationResponse,
  issues: { path: string[] }[],
): Pick<Refused, 'problems' | 'problem'> {
  const refused = new Set(issues.map(({ path }) => path.at(-1)));
  const fields = asked.kind === 'form' ? asked.fields.filter(({ name }) => refused.has(name)) : [];
  const problems = fields.map((field): [string, string] => {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    return [field.name, problemOfRefused(field, value, words)];
  });
  return {
    problems: new Map(problems),
    problem: fields.length > 0 ? words.checkFields(fields.length) : words.question.misfit,
  };
}
