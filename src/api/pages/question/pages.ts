/** The question and the pages it is asked again on. Pure: data in, `Page` out; no page needs JavaScript. */
import type { UrlWarning } from '../../../elicitation/elicitation.ts';
import { detail, scopeList } from '../details.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import type { Page } from '../layout.ts';
import { cross, monogram } from '../marks.ts';
import { returnField } from '../return-url.ts';
import { signedIn } from '../signed-in.ts';
import { timeOf } from '../times.ts';
import type { QuestionView } from './view.ts';

const warningWords: Record<UrlWarning, string> = {
  punycode: 'This address contains look-alike letters. Continue only if you recognise it.',
  userinfo: 'This address hides a name before its real host. Continue only if you recognise it.',
  ip_host: 'This address is a bare number instead of a name.',
  plain_http: 'The connection to this address is not encrypted.',
};

/** How an account is given where nobody is sent to its provider. */
export interface GivenHere {
  /** A line of the list: what it may do. */
  permissions: Html;
  form: Html;
}

export function questionPage(view: QuestionView, givenHere?: GivenHere): Page {
  const { serverTitle, askedBy } = view;
  const again = view.reason !== 'missing' && ' again';
  return {
    status: 200,
    title: `Connect ${serverTitle}`,
    body: html`
      ${monogram(serverTitle)}
      <h1>Connect ${serverTitle}${again}</h1>
      <p class="lead">${view.message}</p>
      <dl>
        ${detail('Asked by', html`<strong>${askedBy.join(' → ')}</strong>`)}
        ${detail('Server', html`<strong>${view.host}</strong>`)}
        ${givenHere?.permissions ?? permissions(view)}
        ${detail(
          'Time left',
          html`${minutesInWords(view.minutesLeft)}<small>until ${timeOf(view.deadline, 'clock')}</small>`,
        )}
      </dl>
      ${view.warnings.map((warning) => html`<p class="warning">${warningWords[warning]}</p>`)}
      ${givenHere?.form ?? actions(view, `Connect ${serverTitle}`)} ${dismissal(view)}
    `,
    footer: signedIn(view, view.elicitationId),
  };
}

export function deniedPage(view: QuestionView): Page {
  const lead = `Access was not given at ${view.serverTitle}. You can try again, or go on without it.`;
  return retryPage(view, 200, `${view.serverTitle} is not connected`, lead);
}

/** `canRetry` is false when starting again would only fail again. */
export function failedPage(view: QuestionView, message: string, canRetry: boolean): Page {
  return retryPage(view, 502, `${view.serverTitle} could not be connected`, message, canRetry);
}

function retryPage(view: QuestionView, status: number, title: string, lead: string, canRetry = true): Page {
  return {
    status,
    title,
    body: html`${monogram(view.serverTitle)}
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${actions(view, canRetry && 'Try again')} ${dismissal(view)}`,
  };
}

function actions(view: QuestionView, connect: string | false): Html {
  return html`<form method="post" action="${view.publicUrl}/auth/connect" class="actions">
    ${questionFields(view)} ${connect && html`<button name="action" value="connect">${connect}</button>`}
    <button name="action" value="decline" class="quiet">Not now</button>
  </form>`;
}

/** In the corner, as on the card in a chat: closing the question decides nothing, which is not the same as “not now”. */
export function dismissal(view: QuestionView): Html {
  return html`<form method="post" action="${view.publicUrl}/auth/connect">
    ${questionFields(view)}
    <button name="action" value="cancel" class="dismiss" aria-label="Dismiss" title="Dismiss">
      ${cross}
    </button>
  </form>`;
}

/** What was allowed before stays, and is not asked for again. */
function permissions({ serverTitle, scopes, reason }: QuestionView): Html {
  if (scopes.length === 0) return detail('Permissions', html`${serverTitle} shows them before you agree`);
  if (reason !== 'insufficient_scope') return detail('Permissions', scopeList(scopes));
  const before = html`<small>In addition to what you allowed before</small>`;
  return detail('New permissions', html`${scopeList(scopes)}${before}`);
}

/** What every form about a question carries. */
export function questionFields(view: QuestionView): Html {
  return html`<input type="hidden" name="e" value="${view.elicitationId}" />
    <input type="hidden" name="csrf" value="${view.csrf}" />
    ${returnField(view)}`;
}

export function minutesInWords(minutes: number): string {
  if (minutes < 1) return 'Less than a minute';
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
