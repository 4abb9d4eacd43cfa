/** The operators' pages: turns, questions, and a turn's timeline. Pure: data in, `Page` out; no JavaScript needed. */
import type { AgentConfig, ServerConfig } from '../../../platform/config/config.ts';
import { turnStates } from '@interlude-ai/core/contract/operators.ts';
import { stateOf } from '../../../service/operators.ts';
import type { SeenQuestion, SeenTurn, TurnState, TurnStory } from '../../../service/operators.ts';
import { timelineMarkup } from '../timeline-markup.ts';
import {
  askedInWords,
  inTime,
  openInWords,
  ownerInWords,
  waitInWords,
} from '../../../turn/timeline/words.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { detail, exclamation, timeOf } from '../elements.ts';
import type { Page } from '../layout.ts';
import { notice } from '../outcome-pages.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import { ageNames } from './search.ts';
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
  const { operators: words } = view.words;
  return {
    status: 200,
    title: words.title(words.turns),
    isFull: true,
    body: html`${navigation(view, 'turns')}
      <h1>${words.turns}</h1>
      ${filterForm(
        view,
        'operators',
        html`${textField(words.service, 'service', view.filter.service)} ${stateField(view)} ${ageField(view)}`,
      )}
      ${
        view.items.length === 0
          ? html`<p class="lead" role="status">${words.noTurn}</p>`
          : html`<ul class="seen">
              ${view.items.map((turn) => turnItem(view, turn))}
            </ul>`
      }
      ${older(view)}`,
    footer: signedIn(view, null),
  };
}

export function questionsPage(view: ListView<SeenQuestion>): Page {
  const { operators: words } = view.words;
  return {
    status: 200,
    title: words.title(words.questions),
    isFull: true,
    body: html`${navigation(view, 'questions')}
      <h1>${words.questions}</h1>
      ${filterForm(view, 'operators/questions', html`${statusField(view)} ${ageField(view)}`)}
      ${
        view.items.length === 0
          ? html`<p class="lead" role="status">${words.noQuestion}</p>`
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
  const { operators: words, timeline } = view.words;
  const title = titleOf(view, turn);
  const { turnId, user, endedAt, createdAt } = turn;
  const state = stateOf(turn);
  const isLive = state === 'waiting' || state === 'working';
  const end = endedAt ?? view.now;
  const waited =
    story.waitedMs > 0 && html`<small>${words.ofWhichWaiting(inTime(story.waitedMs, timeline))}</small>`;
  return {
    status: 200,
    title: words.title(title),
    isFull: true,
    body: html`${navigation(view, null)}
      <div class="head">
        <h1>${title}</h1>
        ${badge(view, state)}
      </div>
      ${state === 'cancelling' && html`<p class="remark" role="status">${words.beingCancelled}</p>`}
      ${turn.waitsFor.map((question) => openQuestion(view, question))}
      <dl>
        ${detail(words.turn, html`<code>${turnId}</code>`)}
        ${detail(words.conversation, html`<code>${turn.conversation}</code>`)}
        ${user === null ? detail(words.service, html`${turn.service ?? words.withoutName}`) : detail(words.user, html`${user}`)}
        ${detail(words.accepted, timeOf(createdAt, 'second', view.words))}
        ${detail(
          endedAt === null ? words.goesOnFor : words.took,
          html`${inTime(end - createdAt, timeline)} ${waited}`,
        )}
        ${
          turn.usage !== null &&
          detail(words.tokens, html`${words.tokensInAndOut(turn.usage.inputTokens, turn.usage.outputTokens)}`)
        }
        ${turn.buildId !== null && turn.buildId !== '' && detail(words.version, html`<code>${turn.buildId}</code>`)}
        ${(links.trace !== null || links.temporal !== null) && detail(words.elsewhere, linkList(view, links))}
      </dl>
      <section aria-labelledby="story">
        <h2 id="story">${words.story}</h2>
        ${
          items.length === 0
            ? html`<p class="remark">${words.nothingYet}</p>`
            : timelineMarkup(items, view.now, timeline)
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
            html`<button class="quiet" aria-describedby="audited">${words.showContents}</button>`,
          )
        }
        ${isLive && html`<a class="button quiet" href="${turnUrl(view, turnId)}/cancel">${words.cancel}</a>`}
        ${endedAt === null && html`<a class="button quiet" href="${turnUrl(view, turnId)}">${words.refresh}</a>`}
      </div>
      ${
        view.seesContents &&
        html`<p class="help" id="audited">
          ${hasContents ? words.contentsWereAudited : words.contentsAudited}
        </p>`
      }`,
    footer: signedIn(view, null),
  };
}

export function cancelPage(view: OperatorView, turn: SeenTurn): Page {
  const { operators: words } = view.words;
  return confirmPage(view, {
    heading: words.cancelThis,
    lead: words.cancelLead(titleOf(view, turn)),
    action: `${turnPath(turn.turnId)}/cancel`,
    button: words.cancel,
    backUrl: turnUrl(view, turn.turnId),
  });
}

export function expirePage(view: OperatorView, question: SeenQuestion): Page {
  const { operators: words, timeline } = view.words;
  return confirmPage(view, {
    heading: words.expireThis,
    lead: html`${words.expireLead(askedInWords(question, timeline))}`,
    action: `/operators/questions/${question.id}/expire`,
    button: words.expireQuestion,
    backUrl: turnUrl(view, question.turnId),
  });
}

export function notOperatorPage(view: SignedIn): Page {
  return { ...notice(view.words, 403, 'operatorsOnly'), footer: signedIn(view, null) };
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
    title: view.words.operators.title(heading),
    body: html`${exclamation}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      ${postForm(
        view,
        action,
        {},
        html`<button>${button}</button>
          <a class="button quiet" href="${backUrl}">${view.words.operators.leaveIt}</a>`,
        html`class="actions"`,
      )}`,
    footer: signedIn(view, null),
  };
}

function navigation({ publicUrl, words }: SignedIn, current: 'turns' | 'questions' | null): Html {
  const { label, turns, questions } = words.operators;
  const item = (name: 'turns' | 'questions', path: string, text: string) =>
    html`<a href="${publicUrl}${path}" ${current === name && html` aria-current="page"`}>${text}</a>`;
  return html`<nav aria-label="${label}">
    ${item('turns', '/operators', turns)} ${item('questions', '/operators/questions', questions)}
  </nav>`;
}

function filterForm(view: ListView<unknown>, path: string, more: Html): Html {
  const { publicUrl, filter, agents, servers, words } = view;
  const { user, show } = words.operators;
  const named = (entries: Pick<AgentConfig, 'name' | 'title'>[]) =>
    entries.map(({ name, title }) => [name, title] as const);
  return html`<form class="filter" method="get" action="${publicUrl}/${path}">
    ${textField(user, 'user', filter.user)} ${select(view, words.agent, 'agent', named(agents))}
    ${select(view, words.server, 'server', named(servers))} ${more}
    <button class="quiet">${show}</button>
  </form>`;
}

function textField(label: string, name: string, value: string | undefined): Html {
  return html`<label
    >${label} <input name="${name}" value="${value ?? ''}" autocomplete="off" spellcheck="false"
  /></label>`;
}

function stateField(view: ListView<unknown>): Html {
  const { state, states } = view.words.operators;
  return select(
    view,
    state,
    'state',
    turnStates.map((one) => [one, states[one]] as const),
  );
}

function statusField(view: ListView<unknown>): Html {
  const { status, statuses } = view.words.operators;
  return select(view, status, 'status', Object.entries(statuses));
}

function ageField(view: ListView<unknown>): Html {
  const { age, ages } = view.words.operators;
  return select(
    view,
    age,
    'age',
    ageNames.map((name) => [name, ages[name]] as const),
  );
}

function select(
  { filter, words }: ListView<unknown>,
  label: string,
  name: keyof Filter,
  options: (readonly [string, string])[],
): Html {
  const chosen = filter[name];
  const known = chosen === undefined || options.some(([value]) => value === chosen);
  const all = known ? options : [...options, [chosen, chosen] as const];
  return html`<label
    >${label}
    <select name="${name}">
      <option value="">${words.operators.any}</option>
      ${all.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === chosen && html` selected`}>${text}</option>`,
      )}
    </select></label
  >`;
}

function turnItem(view: OperatorView, turn: SeenTurn): Html {
  const { operators: words, timeline } = view.words;
  const { createdAt, endedAt, turnId } = turn;
  const time = inTime((endedAt ?? view.now) - createdAt, timeline);
  return html`<li>
    <div>
      <h2><a href="${turnUrl(view, turnId)}">${titleOf(view, turn)}</a></h2>
      ${turn.waitsFor.map((question) => html`<p class="waits">${waitInWords(question, view.now, timeline)}</p>`)}
      <p class="host">
        ${timeOf(createdAt, 'second', view.words)} ·
        ${endedAt === null ? words.since(time) : words.tookTime(time)} ·
        <code>${turnId}</code>
      </p>
    </div>
    ${badge(view, stateOf(turn))}
  </li>`;
}

function questionItem(view: OperatorView, question: SeenQuestion): Html {
  const { operators: words, timeline } = view.words;
  const { status, createdAt, settledAt, turnId, agent } = question;
  const isOpen = status === 'pending';
  const after = settledAt !== null && html` · ${words.settledAfter(inTime(settledAt - createdAt, timeline))}`;
  return html`<li>
    <div>
      <h2><a href="${turnUrl(view, turnId)}">${askedInWords(question, timeline)}</a></h2>
      ${isOpen && html`<p class="waits">${words.open(openInWords(question, view.now, timeline))}</p>`}
      <p class="host">
        ${timeOf(createdAt, 'second', view.words)}${after} · ${words.by(agent)} · <code>${question.id}</code>
      </p>
    </div>
    <span class="badge ${isOpen && 'warn'}">${words.statuses[status]}</span>
  </li>`;
}

function openQuestion(view: OperatorView, question: SeenQuestion): Html {
  const { expire, questionTo } = view.words.operators;
  return html`<div class="open-question">
    <p>${waitInWords(question, view.now, view.words.timeline)}</p>
    <a class="button quiet" href="${view.publicUrl}/operators/questions/${question.id}/expire"
      >${expire}<span class="unseen"> ${questionTo(question.user)}</span></a
    >
  </div>`;
}

function titleOf({ words }: SignedIn, turn: SeenTurn): string {
  return words.operators.turnOf(turn.agent, ownerInWords(turn, words.timeline));
}

function badge({ words }: SignedIn, state: TurnState): Html {
  const mood = {
    waiting: 'warn',
    working: '',
    cancelling: '',
    completed: 'good',
    failed: 'bad',
    cancelled: '',
    superseded: '',
  }[state];
  return html`<span class="badge ${mood}">${words.operators.states[state]}</span>`;
}

function linkList({ words }: SignedIn, { trace, temporal }: TurnStory['links']): Html {
  const link = (url: string | null, text: string) =>
    url !== null && html`<a href="${url}" rel="noopener">${text}</a>`;
  return html`<span class="links">${link(trace, words.operators.trace)} ${link(temporal, 'Temporal')}</span>`;
}

function older({ nextUrl, words }: ListView<unknown>): Html | false {
  return (
    nextUrl !== null &&
    html`<p class="older"><a class="button quiet" href="${nextUrl}">${words.operators.older}</a></p>`
  );
}

export function turnUrl({ publicUrl }: Pick<SignedIn, 'publicUrl'>, turnId: string): string {
  return publicUrl + turnPath(turnId);
}

function turnPath(turnId: string): string {
  return `/operators/turns/${encodeURIComponent(turnId)}`;
}
