/** What the pages say of an account that everybody shares. Pure: data in, `Page` out. */
import { askWhom } from '../../../elicitation/shared-account.ts';
import { detail } from '../details.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import type { Page } from '../layout.ts';
import { monogram } from '../marks.ts';
import { dismissal, questionFields } from './pages.ts';
import type { QuestionView } from './view.ts';
import { signedIn } from '../signed-in.ts';

/** Before an operator gives one. */
export function becomesShared(serverTitle: string, tenant: string): Html {
  return html`<p class="warning">
    This account becomes everybody’s in ${tenant}: whoever talks to an agent there, ${serverTitle} is used
    with it. Connect one that is meant for all of them, not your own.
  </p>`;
}

/** A question that was opened while each user still had an account of their own: nobody can answer it any more. */
export function sharedQuestionPage(
  view: QuestionView,
  { tenant, contact, mayChange }: { tenant: string; contact: string | undefined; mayChange: boolean },
): Page {
  const { serverTitle, publicUrl } = view;
  return {
    status: 200,
    title: `${serverTitle} is shared`,
    body: html`${monogram(serverTitle)}
      <h1>${serverTitle} is shared</h1>
      <p class="lead">
        ${serverTitle} is used with one account for everybody in ${tenant}, and only an operator connects it.
        ${mayChange ? html`<a href="${publicUrl}/connections">You may do that here.</a>` : askWhom(contact)}
      </p>
      <dl>${detail('Asked by', html`<strong>${view.askedBy.join(' → ')}</strong>`)}</dl>
      <form method="post" action="${publicUrl}/auth/connect" class="actions">
        ${questionFields(view)}
        <button name="action" value="decline" class="quiet">Not now</button>
      </form>
      ${dismissal(view)}`,
    footer: signedIn(view, view.elicitationId),
  };
}
