/** `/connections/waiting`: the open questions to a person. Pure: data in, `Page` out; no JavaScript. */
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import type { Question } from '../../../service/questions.ts';
import { askerMark, timeOf } from '../elements.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { keepingReturn } from '../return-url.ts';
import type { PageWords } from '../words.ts';
import { settingsPage } from './settings-page.ts';
import type { SettingsView } from './settings-page.ts';

interface WaitingView extends SettingsView {
  /** Newest first. */
  questions: Question[];
}

export function waitingPage(view: WaitingView): Page {
  const { words, questions } = view;
  const { waitingForYou, waitingLead, nothingWaits } = words.settings;
  return settingsPage(view, 'waiting', {
    heading: waitingForYou,
    lead: questions.length === 0 ? nothingWaits : waitingLead,
    body: html`${
      questions.length > 0 &&
      html`<ul class="questions">
        ${questions.map((question) => questionItem(view, question))}
      </ul>`
    }`,
  });
}

function questionItem(view: SettingsView, { id, request, deadline }: Question): Html {
  const { words } = view;
  const { waitsUntil, answer } = words.settings;
  const address = keepingReturn(answerAddress(view.publicUrl, id), view);
  const message = shownMessage(words, request);
  return html`<li>
    ${markOfAsker(words, request)}
    <div>
      <p dir="auto">${message}</p>
      <p class="host">${waitsUntil(askerOf(words, request), timeOf(deadline, 'clock', words))}</p>
    </div>
    <a class="button" href="${address}">${answer}<span class="unseen"> ${message}</span></a>
  </li>`;
}

export function askerOf(words: PageWords, { context }: ElicitationRequest): string {
  return plainLine(askerTitle(context) ?? words.anAgent);
}

export function markOfAsker(words: PageWords, request: ElicitationRequest): Html {
  return askerMark(request.context, askerOf(words, request));
}

const longestMessage = 140;

export function shownMessage(words: PageWords, request: ElicitationRequest): string {
  const text = plainLine(words.ownQuestion(request));
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage).trimEnd()}…`;
}
