/** Pages for operators: all turns and questions of their tenant, and ending them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { QuestionParamsSchema, TurnParamsSchema } from '@interlude-ai/core/contract/operators.ts';
import { operatorOf } from '../../../service/operators.ts';
import type { Operator, Page as Found } from '../../../service/operators.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { PageContext } from '../context.ts';
import { onForm, signedInAs } from '../guarded-form.ts';
import { principalOf } from '../login/session.ts';
import type { Session } from '../login/session.ts';
import { sendPage } from '../layout.ts';
import type { Page, Redirect } from '../layout.ts';
import { operatorsLoginUrl } from '../login/routes.ts';
import { notice } from '../outcome-pages.ts';
import {
  cancelPage,
  expirePage,
  notOperatorPage,
  questionsPage,
  storyPage,
  turnsPage,
  turnUrl,
} from './pages.ts';
import type { ListView, OperatorView } from './pages.ts';
import { nextQuery, readFilter, toSearch } from './search.ts';
import type { Filter } from './search.ts';
import type { PageWords } from '../words.ts';

const perPage = 50;

type Show = (given: {
  by: Operator;
  view: OperatorView;
  request: FastifyRequest;
}) => Promise<Page | Redirect>;

export function operatorRoutes(fastify: FastifyInstance, context: PageContext): void {
  const { config, operators, sessions, refusals, now } = context;
  const { publicUrl } = config.http;

  async function answerOperator(show: Show, session: Session, request: FastifyRequest) {
    const signedIn = signedInAs(session, publicUrl);
    if (!session.isOperator) {
      await refusals.record(request, 'an operators’ page', { isRepeatable: true });
      return notOperatorPage(signedIn);
    }
    const by = operatorOf(principalOf(session), request.ip);
    try {
      return await show({ by, view: { ...signedIn, seesContents: by.seesContents, now: now() }, request });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const page = refusedPages[error.code];
      if (!page) throw error;
      await refusals.record(request, error.code);
      const [status, text] = page;
      return notice(signedIn.words, status, text, `${publicUrl}/operators`);
    }
  }

  const get = (path: string, show: Show) =>
    fastify.get(path, async (request, reply) => {
      const session = sessions.read(request);
      if (!session) return reply.redirect(operatorsLoginUrl(publicUrl, turnIn(request)), 303);
      return sendPage(reply, await answerOperator(show, session, request));
    });
  const post = (path: string, show: Show) =>
    onForm(fastify, context, {
      path,
      input: z.object({}),
      page(request) {
        const turn = turnIn(request);
        return turn === null ? `${publicUrl}/operators` : turnUrl({ publicUrl }, turn);
      },
      handle: ({ session, request }) => answerOperator(show, session, request),
    });

  get('/operators', async ({ by, view, request }) => {
    const { filter, after } = readFilter(request.query);
    const { service, state } = filter;
    const found = await operators.turns(
      by,
      { ...toSearch(filter, view.now), service, state },
      { after, limit: perPage },
    );
    return turnsPage(listView(view, filter, found, 'operators'));
  });

  get('/operators/questions', async ({ by, view, request }) => {
    const { filter: given, after } = readFilter(request.query);
    // Without a query, show open questions.
    const filter: Filter = isEmpty(request.query) ? { ...given, status: 'pending' } : given;
    const { status } = filter;
    const found = await operators.questions(
      by,
      { ...toSearch(filter, view.now), status },
      { after, limit: perPage },
    );
    return questionsPage(listView(view, filter, found, 'operators/questions'));
  });

  get('/operators/turns/:turn', async ({ by, view, request }) =>
    storyPage(view, await operators.story(by, turnOf(request)), false),
  );

  post('/operators/turns/:turn/contents', async ({ by, view, request }) =>
    storyPage(view, await operators.contents(by, turnOf(request)), true),
  );

  get('/operators/turns/:turn/cancel', async ({ by, view, request }) =>
    cancelPage(view, (await operators.story(by, turnOf(request))).turn),
  );

  post('/operators/turns/:turn/cancel', async ({ by, request }) => {
    await operators.cancel(by, turnOf(request));
    return { redirectTo: `${publicUrl}/operators/turns/${turnOf(request)}` };
  });

  get('/operators/questions/:elicitation/expire', async ({ by, view, request }) =>
    expirePage(view, await operators.question(by, questionOf(request))),
  );

  post('/operators/questions/:elicitation/expire', async ({ by, request }) => {
    const { question } = await operators.expire(by, questionOf(request));
    return { redirectTo: `${publicUrl}/operators/turns/${question.turnId}` };
  });

  function listView<Item>(
    view: OperatorView,
    filter: Filter,
    { items, next }: Found<Item>,
    path: string,
  ): ListView<Item> {
    return {
      ...view,
      filter,
      items,
      nextUrl: next && `${publicUrl}/${path}?${nextQuery(filter, next)}`,
      agents: [...config.agents.values()],
      servers: [...config.servers.values()],
    };
  }
}

const refusedPages: Partial<Record<ServiceError['code'], [number, keyof PageWords['notices']]>> = {
  turn_not_found: [404, 'noSuchTurn'],
  elicitation_not_found: [404, 'noSuchQuestion'],
  forbidden: [403, 'noContents'],
};

function turnOf({ params }: FastifyRequest): string {
  const { data } = TurnParamsSchema.safeParse(params);
  if (!data) throw new ServiceError('turn_not_found', 'This is not the id of a turn.');
  return data.turn;
}

function questionOf({ params }: FastifyRequest): string {
  const { data } = QuestionParamsSchema.safeParse(params);
  if (!data) throw new ServiceError('elicitation_not_found', 'This is not the id of a question.');
  return data.elicitation;
}

function turnIn({ params }: FastifyRequest): string | null {
  return TurnParamsSchema.safeParse(params).data?.turn ?? null;
}

function isEmpty(query: unknown): boolean {
  return Object.keys({ ...(query as object) }).length === 0;
}
