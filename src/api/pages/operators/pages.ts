/** The operators' pages: turns, questions, and a turn's timeline. Pure: data in, `Page` out; no JavaScript needed. */
import type { AgentConfig, ServerConfig } from '../../../platform/config/config.ts';
import { turnStates } from '@interlude-ai/core/contract/operators.ts';
import { stateOf } from '../../../service/operators.ts';
import type { SeenQuestion, SeenTurn, TurnState, TurnStory } from '../../../service/operators.ts';
import { timelineMarkup } from '../timeline-markup.ts';
import { askedForIn, inTime, openInWords, ownerInWords, waitInWords } from '../../../turn/timeline/words.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { detail, exclamation, timeOf } from '../elements.ts';
import type { Page } from '../layout.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import { ages } from './search.ts';
import type { Filter } from './search.ts';

export interface OperatorView extends SignedIn {
  seesContents: boolean;
  /** By the database's clock. */
  now: number;
}

export interface ListView<Item> extends OperatorView {
  filter: Filter;
  items: Item[];
  /** The next page. */
  nextUrl: string | null;
  agents: Pick<AgentConfig, 'name' | 'title'>[];
  servers: Pick<ServerConfig, 'name' | 'title'>[];
}

export function turnsPage(view: ListView<SeenTurn>): Page {
  return {
    status: 200,
    title: 'Turns · Operators',
    isFull: true,
    body: html`${navigation(view, 'turns')}
      <h1>Turns</h1>
      ${filterForm(
        view,
        'operators',
        html`${textField('Service', 'service', view.filter.service)} ${stateField(view.filter)}
        ${ageField(view.filter)}`,
      )}
      ${
        view.items.length === 0
          ? html`<p class="lead" role="status">No turn matches.</p>`
          : html`<ul class="seen">
              ${view.items.map((turn) => turnItem(view, turn))}
            </ul>`
      }
      ${older(view)}`,
    footer: signedIn(view, null),
  };
}

export function questionsPage(view: ListView<SeenQuestion>): Page {
  return {
    status: 200,
    title: 'Questions · Operators',
    isFull: true,
    body: html`${navigation(view, 'questions')}
      <h1>Questions</h1>
      ${filterForm(view, 'operators/questions', html`${statusField(view.filter)} ${ageField(view.filter)}`)}
      ${
        view.items.length === 0
          ? html`<p class="lead" role="status">No question matches.</p>`
          : html`<ul class="seen">
              ${view.items.map((question) => questionItem(view, question))}
            </ul>`
      }
      ${older(view)}`,
    footer: signedIn(view, null),
  };
}

export function storyPage(view: OperatorView, story: TurnStory, hasContents: boolean): Page {
  const { turn, links, items } = story;
  const { turnId, user, endedAt, createdAt } = turn;
  const state = stateOf(turn);
  const isLive = state === 'waiting' || state === 'working';
  const end = endedAt ?? view.now;
  const waited =
    story.waitedMs > 0 ? html`<small>of which ${inTime(story.waitedMs)} waiting for people</small>` : html``;
  return {
    status: 200,
    title: `${titleOf(turn)} · Operators`,
    isFull: true,
    body: html`${navigation(view, null)}
      <div class="head">
        <h1>${titleOf(turn)}</h1>
        ${badge(state)}
      </div>
      ${state === 'cancelling' && html`<p class="remark" role="status">The turn is being cancelled.</p>`}
      ${turn.waitsFor.map((question) => openQuestion(view, question))}
      <dl>
        ${detail('Turn', html`<code>${turnId}</code>`)}
        ${detail('Conversation', html`<code>${turn.conversation}</code>`)}
        ${user === null ? detail('Service', html`${turn.service ?? 'without a name'}`) : detail('User', html`${user}`)}
        ${detail('Accepted', timeOf(createdAt, 'second'))}
        ${detail(endedAt === null ? 'Goes on for' : 'Took', html`${inTime(end - createdAt)} ${waited}`)}
        ${
          turn.usage !== null &&
          detail('Tokens', html`${turn.usage.inputTokens} in, ${turn.usage.outputTokens} out`)
        }
        ${turn.buildId !== null && turn.buildId !== '' && detail('Version', html`<code>${turn.buildId}</code>`)}
        ${(links.trace !== null || links.temporal !== null) && detail('Elsewhere', linkList(links))}
      </dl>
      <section aria-labelledby="story">
        <h2 id="story">What happened</h2>
        ${
          items.length === 0
            ? html`<p class="remark">Nothing yet: no worker has taken the turn up.</p>`
            : timelineMarkup(items, view.now)
        }
      </section>
      <div class="choices">
        ${
          view.seesContents &&
          !hasContents &&
          postForm(
            view,
            `${turnPath(turnId)}/contents`,
            {},
            html`<button class="quiet" aria-describedby="audited">Show contents</button>`,
          )
        }
        ${isLive && html`<a class="button quiet" href="${turnUrl(view, turnId)}/cancel">Cancel the turn</a>`}
        ${endedAt === null && html`<a class="button quiet" href="${turnUrl(view, turnId)}">Refresh</a>`}
      </div>
      ${
        view.seesContents &&
        html`<p class="help" id="audited">
          ${hasContents ? 'That you looked at the contents is in the audit.' : 'Looking at contents is recorded in the audit.'}
        </p>`
      }`,
    footer: signedIn(view, null),
  };
}

export function cancelPage(view: OperatorView, turn: SeenTurn): Page {
  return confirmPage(view, {
    heading: 'Cancel this turn?',
    lead: html`<strong>${titleOf(turn)}</strong> stops. Its open questions close; what its tools have done
      stays done.`,
    action: `${turnPath(turn.turnId)}/cancel`,
    button: 'Cancel the turn',
    backUrl: turnUrl(view, turn.turnId),
  });
}

export function expirePage(view: OperatorView, question: SeenQuestion): Page {
  return confirmPage(view, {
    heading: 'Expire this question?',
    lead: html`<strong>${question.user}</strong> was asked ${askedForIn(question.request)}. The turn goes on
      as if no one had answered in time.`,
    action: `/operators/questions/${question.id}/expire`,
    button: 'Expire the question',
    backUrl: turnUrl(view, question.turnId),
  });
}

export function notOperatorPage(view: SignedIn): Page {
  return {
    status: 403,
    title: 'For operators only',
    body: html`${exclamation}
      <h1>For operators only</h1>
      <p class="lead">Your account does not have the operator’s role.</p>`,
    footer: signedIn(view, null),
  };
}

interface Confirmation {
  heading: string;
  lead: Html;
  /** A path. */
  action: string;
  button: string;
  backUrl: string;
}

function confirmPage(view: OperatorView, { heading, lead, action, button, backUrl }: Confirmation): Page {
  return {
    status: 200,
    title: `${heading} · Operators`,
    body: html`${exclamation}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      ${postForm(
        view,
        action,
        {},
        html`<button>${button}</button> <a class="button quiet" href="${backUrl}">Leave it</a>`,
        html`class="actions"`,
      )}`,
    footer: signedIn(view, null),
  };
}

function navigation({ publicUrl }: SignedIn, current: 'turns' | 'questions' | null): Html {
  const item = (name: 'turns' | 'questions', path: string, words: string) =>
    html`<a href="${publicUrl}${path}" ${current === name && html` aria-current="page"`}>${words}</a>`;
  return html`<nav aria-label="Operators">
    ${item('turns', '/operators', 'Turns')} ${item('questions', '/operators/questions', 'Questions')}
  </nav>`;
}

function filterForm(
  { publicUrl, filter, agents, servers }: ListView<unknown>,
  path: string,
  more: Html,
): Html {
  const named = (entries: Pick<AgentConfig, 'name' | 'title'>[]) =>
    entries.map(({ name, title }) => [name, title] as const);
  return html`<form class="filter" method="get" action="${publicUrl}/${path}">
    ${textField('User', 'user', filter.user)} ${select('Agent', 'agent', filter.agent, named(agents))}
    ${select('Server', 'server', filter.server, named(servers))} ${more}
    <button class="quiet">Show</button>
  </form>`;
}

function textField(label: string, name: string, value: string | undefined): Html {
  return html`<label
    >${label} <input name="${name}" value="${value ?? ''}" autocomplete="off" spellcheck="false"
  /></label>`;
}

function stateField({ state }: Filter): Html {
  return select(
    'State',
    'state',
    state,
    turnStates.map((one) => [one, one] as const),
  );
}

function statusField({ status }: Filter): Html {
  const statuses = ['pending', 'accept', 'decline', 'cancel', 'expired'] as const;
  return select(
    'Status',
    'status',
    status,
    statuses.map((one) => [one, one === 'pending' ? 'open' : one] as const),
  );
}

function ageField({ age }: Filter): Html {
  return select(
    'Age',
    'age',
    age,
    Object.entries(ages).map(([name, { words }]) => [name, words] as const),
  );
}

function select(
  label: string,
  name: string,
  chosen: string | undefined,
  options: (readonly [string, string])[],
): Html {
  const known = chosen === undefined || options.some(([value]) => value === chosen);
  const all = known ? options : [...options, [chosen, chosen] as const];
  return html`<label
    >${label}
    <select name="${name}">
      <option value="">any</option>
      ${all.map(
        ([value, words]) =>
          html`<option value="${value}" ${value === chosen && html` selected`}>${words}</option>`,
      )}
    </select></label
  >`;
}

function turnItem(view: OperatorView, turn: SeenTurn): Html {
  const end = turn.endedAt ?? view.now;
  const took = `${turn.endedAt === null ? 'for' : 'took'} ${inTime(end - turn.createdAt)}`;
  return html`<li>
    <div>
      <h2><a href="${turnUrl(view, turn.turnId)}">${titleOf(turn)}</a></h2>
      ${turn.waitsFor.map((question) => html`<p class="waits">${waitInWords(question, view.now)}</p>`)}
      <p class="host">${timeOf(turn.createdAt, 'second')} · ${took} · <code>${turn.turnId}</code></p>
    </div>
    ${badge(stateOf(turn))}
  </li>`;
}

function questionItem(view: OperatorView, question: SeenQuestion): Html {
  const { user, status, createdAt, settledAt, turnId, agent } = question;
  const isOpen = status === 'pending';
  const after = settledAt === null ? '' : ` · settled after ${inTime(settledAt - createdAt)}`;
  return html`<li>
    <div>
      <h2><a href="${turnUrl(view, turnId)}">${user} was asked ${askedForIn(question.request)}</a></h2>
      ${isOpen && html`<p class="waits">${`Open ${openInWords(question, view.now)}`}</p>`}
      <p class="host">${timeOf(createdAt, 'second')}${after} · by ${agent} · <code>${question.id}</code></p>
    </div>
    <span class="badge ${isOpen && 'warn'}">${isOpen ? 'open' : status}</span>
  </li>`;
}

function openQuestion(view: OperatorView, question: SeenQuestion): Html {
  return html`<div class="open-question">
    <p>${waitInWords(question, view.now)}</p>
    <a class="button quiet" href="${view.publicUrl}/operators/questions/${question.id}/expire"
      >Expire<span class="unseen"> the question to ${question.user}</span></a
    >
  </div>`;
}

function titleOf(turn: SeenTurn): string {
  return `${turn.agent} for ${ownerInWords(turn)}`;
}

function badge(state: TurnState): Html {
  const mood = {
    waiting: 'warn',
    working: '',
    cancelling: '',
    completed: 'good',
    failed: 'bad',
    cancelled: '',
    superseded: '',
  }[state];
  return html`<span class="badge ${mood}">${state}</span>`;
}

function linkList({ trace, temporal }: TurnStory['links']): Html {
  const link = (url: string | null, words: string) =>
    url !== null && html`<a href="${url}" rel="noopener">${words}</a>`;
  return html`<span class="links">${link(trace, 'Trace')} ${link(temporal, 'Temporal')}</span>`;
}

function older({ nextUrl }: ListView<unknown>): Html | false {
  return nextUrl !== null && html`<p class="older"><a class="button quiet" href="${nextUrl}">Older</a></p>`;
}

export function turnUrl({ publicUrl }: Pick<SignedIn, 'publicUrl'>, turnId: string): string {
  return publicUrl + turnPath(turnId);
}

function turnPath(turnId: string): string {
  return `/operators/turns/${encodeURIComponent(turnId)}`;
}
