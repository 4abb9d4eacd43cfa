/** The page of any question: who asks for what, and one form with its buttons. Pure: data in, `Page` out; no JavaScript needed. */
import { askerTitle, whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { UrlWarning } from '@interlude-ai/core/elicitation/elicitation.ts';
import { plainLine, plainMessage } from '@interlude-ai/core/elicitation/plain-text.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Question } from '../../../service/questions.ts';
import type { PagesParts } from '../context.ts';
import { askerMark, cross, detail, timeOf } from '../elements.ts';
import { postForm, signedIn, signedInAs } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { Page } from '../layout.ts';
import type { Session } from '../login/session.ts';

export interface QuestionView extends SignedIn {
  elicitationId: string;
  message: string;
  mark: Html;
  /** The server or tool that asks, or whose call it is about. Undefined: the model asks. */
  asker: string | undefined;
  host: string | undefined;
  /** The agent, then those it delegated to. */
  askedBy: string[];
  warnings: UrlWarning[];
  deadline: Date;
  minutesLeft: number;
}

export function questionView(
  { id, request, deadline }: Pick<Question, 'id' | 'request' | 'deadline'>,
  { http, agents }: PagesParts['config'],
  session: Session,
): QuestionView {
  const { context, message } = request;
  const asker = askerTitle({ ...context, agent: undefined });
  const signedIn = signedInAs(session, http.publicUrl);
  const askedBy = whoAsks(context).map((agent) => agents.get(agent)?.title ?? agent);
  const title = asker === undefined ? (askedBy[0] ?? signedIn.words.agent) : plainLine(asker);
  return {
    mark: askerMark(context, title),
    elicitationId: id,
    message: plainMessage(signedIn.words.ownQuestion({ context, message })),
    asker: asker === undefined ? undefined : plainLine(asker),
    host: context.host,
    askedBy,
    warnings: context.warnings ?? [],
    deadline: new Date(deadline),
    minutesLeft: Math.floor((deadline - Date.now()) / 60_000),
    ...signedIn,
  };
}

interface Asked {
  heading: string;
  /** More lines of details. */
  details: Html;
  form: Html;
  isWide?: boolean;
}

export function questionPage(view: QuestionView, { heading, details, form, isWide = false }: Asked): Page {
  const { words } = view;
  return {
    status: 200,
    title: heading,
    isWide,
    body: html`
      ${view.mark}
      <h1>${heading}</h1>
      <p class="lead message" dir="auto">${view.message}</p>
      <dl>
        ${detail(words.askedByLabel, html`<strong>${view.askedBy.join(' → ')}</strong>`)} ${details}
        ${timeLeft(view)}
      </dl>
      ${view.warnings.map((warning) => html`<p class="warning">${words.warnings[warning]}</p>`)} ${form}
    `,
    footer: signedIn(view, view.elicitationId),
  };
}

function timeLeft({ words, deadline, minutesLeft }: QuestionView): Html {
  const { timeLeft, until, lessThanAMinute } = words.question;
  const minutes = new Intl.NumberFormat(words.language, {
    style: 'unit',
    unit: 'minute',
    unitDisplay: 'long',
  });
  return detail(
    timeLeft,
    html`${minutesLeft < 1 ? lessThanAMinute : minutes.format(minutesLeft)}
      <small>${until(timeOf(deadline, 'clock', words))}</small>`,
  );
}

interface FormParts {
  /** The button that answers; null: the question can only be declined. */
  yes: { action: 'accept' | 'connect'; label: string } | null;
  no?: string;
  fields?: Html;
}

/** The cross in the corner cancels, which, unlike “not now”, decides nothing. */
export function questionForm(view: QuestionView, { yes, no, fields }: FormParts): Html {
  const { words } = view;
  const content = html`${fields}
    <div class="actions">
      ${yes !== null && html`<button name="action" value="${yes.action}">${yes.label}</button>`}
      <button name="action" value="decline" class="quiet">${no ?? words.notNow}</button>
    </div>
    <button
      name="action"
      value="cancel"
      class="dismiss"
      aria-label="${words.dismiss}"
      title="${words.dismiss}"
    >
      ${cross}
    </button>`;
  return postForm(view, '/auth/answer', { e: view.elicitationId }, content, html`novalidate`);
}
