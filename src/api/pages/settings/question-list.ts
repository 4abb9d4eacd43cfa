/** On the settings page: what agents wait to hear from the person. Pure. */
import { answerAddress } from '../../../elicitation/account-pages.ts';
import { askerTitle } from '../../../elicitation/asker.ts';
import { plainLine } from '../../../elicitation/plain-text.ts';
import type { Question } from '../../../service/questions.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import { keepingReturn } from '../return-url.ts';
import type { SignedIn } from '../signed-in.ts';
import { timeOf } from '../times.ts';

const longestMessage = 140;

export function questionList(view: SignedIn, questions: Question[]): Html {
  return html`<h2>Waiting for you</h2>
    <ul class="questions">
      ${questions.map((question) => item(view, question))}
    </ul>`;
}

function item(view: SignedIn, { id, request, deadline }: Question): Html {
  const address = keepingReturn(answerAddress(view.publicUrl, id), view);
  return html`<li>
    <div>
      <p dir="auto">${shortened(plainLine(request.message))}</p>
      <p class="host">
        ${plainLine(askerTitle(request.context) ?? 'An agent')} waits until ${timeOf(deadline, 'clock')}
      </p>
    </div>
    <a class="button" href="${address}"
      >Answer<span class="unseen"> ${shortened(plainLine(request.message))}</span></a
    >
  </li>`;
}

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage).trimEnd()}…`;
}
