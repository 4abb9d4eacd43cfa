/** The pages of forms, approvals and links. Pure: data in, `Page` out; no JavaScript needed. */
import { isApproval, longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationRequest, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { inspectUrl, isSafeToOpen, splitAtHost } from '@interlude-ai/core/elicitation/url-safety.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { dash, detail, monogram, tick } from '../elements.ts';
import type { Page } from '../layout.ts';
import { finishedPage, leavingPage, plain } from '../outcome-pages.ts';
import { formFields } from './form-fields.ts';
import type { Typed } from './form-fields.ts';
import type { PageWords, Text } from '../words.ts';
import { questionForm, questionPage } from './question-page.ts';
import type { QuestionView } from './question-page.ts';

export type Asked =
  | { kind: 'approval'; arguments: string | undefined; toolName: string | undefined }
  | { kind: 'form'; fields: Field[] }
  | { kind: 'link'; url: string; host: string };

export function askedIn(request: ElicitationRequest): Asked {
  const { context } = request;
  if (request.mode === 'url') {
    const inspected = inspectUrl(request.url);
    return { kind: 'link', url: request.url, host: inspected.kind === 'ok' ? inspected.host : '' };
  }
  if (isApproval(context))
    return { kind: 'approval', arguments: context.arguments, toolName: context.toolName };
  const form = readRequestedSchema(request.requestedSchema);
  return { kind: 'form', fields: form.kind === 'form' ? form.fields : [] };
}

/** An answer that did not fit, with what was typed. */
export interface Refused {
  typed: Typed;
  /** By field. */
  problems: Map<string, string>;
  /** About the answer as a whole. */
  problem: string;
}

export function answerPage(view: QuestionView, asked: Asked, refused?: Refused): Page {
  const { asker, host, words } = view;
  const server = html`<strong>${asker ?? ''}</strong>${host !== undefined && html`<small>${host}</small>`}`;
  const form = formOf(words, asked, refused);
  const agent = view.askedBy.at(-1) ?? words.anAgent;
  const headings = {
    approval: words.question.asksForApproval(agent),
    form: words.question.asksYou(asker ?? agent),
    link: words.question.asksToOpenPage(asker ?? agent),
  };
  const page = questionPage(view, {
    heading: headings[asked.kind],
    details: asker === undefined ? html`` : detail(host === undefined ? words.tool : words.server, server),
    form: questionForm(view, {
      ...form,
      yes: { action: 'accept', label: form.yes },
      fields: html`${refused && html`<p class="problem" role="alert">${refused.problem}</p>`} ${form.fields}`,
    }),
    isWide: asked.kind !== 'link',
  });
  return refused ? { ...page, status: 422, title: words.question.notAnsweredYet(page.title) } : page;
}

function formOf(
  words: PageWords,
  asked: Asked,
  refused: Refused | undefined,
): { yes: string; no?: string; fields: Html } {
  switch (asked.kind) {
    case 'approval':
      return { yes: words.approve, no: words.decline, fields: approvalFields(words, asked) };
    case 'form': {
      const { fields } = asked;
      const shown = formFields(words, fields, refused?.typed ?? null, refused?.problems ?? new Map());
      return { yes: fields.length === 0 ? words.confirm : words.sendAnswer, fields: html`${shown}` };
    }
    case 'link': {
      const { before, host, after } = splitAtHost(asked.url);
      const address = html`<p class="address" dir="ltr">${before}<strong>${host}</strong>${after}</p>`;
      return { yes: words.openPage, fields: address };
    }
    default:
      return asked satisfies never;
  }
}

function approvalFields(
  words: PageWords,
  { arguments: shown, toolName }: Extract<Asked, { kind: 'approval' }>,
): Html {
  return html`${
      shown !== undefined &&
      html`<figure class="arguments">
        <figcaption id="arguments">
          ${words.willBeSent} ${toolName !== undefined && html`<code>${toolName}</code>`}
        </figcaption>
        <pre tabindex="0" aria-labelledby="arguments">${shown}</pre>
      </figure>`
    }
    <div class="field">
      <label for="remember">${words.nextTime}</label>
      <select id="remember" name="remember">
        <option value="">${words.askEachTime}</option>
        <option value="conversation">${words.allowInConversation}</option>
        <option value="always">${words.allowAlways}</option>
      </select>
    </div>
    <details class="field">
      <summary>${words.declineWithReason}</summary>
      <label for="reason">${words.whyNot} <small>${words.optional}</small></label>
      <textarea id="reason" name="reason" rows="2" maxlength="${longestReason}"></textarea>
    </details>`;
}

/** How the question ended. `now`: this request settled it; `before`: it was settled earlier. */
export function settledPage(
  words: PageWords,
  { kind }: Asked,
  status: Exclude<Status, 'pending'>,
  when: 'now' | 'before',
): Page {
  if (status === 'cancel' || status === 'expired') return finishedPage(words, status);
  const said = words.question;
  const accepted: Record<Asked['kind'], { now: Text; before: Text }> = {
    approval: { now: said.approvedNow, before: said.approvedBefore },
    form: { now: said.answeredNow, before: said.answeredBefore },
    link: { now: said.openedNow, before: said.openedBefore },
  };
  const declined: Text = [
    kind === 'approval' ? said.declined : said.notNow,
    when === 'now' ? said.declinedNow : said.declinedBefore,
  ];
  const page = status === 'accept' ? plain(200, tick, accepted[kind][when]) : plain(200, dash, declined);
  return { ...page, wayBack: 'button' };
}

/** The response to “Open”. */
export function onwardPage(words: PageWords, { url, host }: Extract<Asked, { kind: 'link' }>): Page {
  const { whenDoneThere, openYourself, notEncrypted } = words.question;
  if (isSafeToOpen(url)) return leavingPage(words, host, url, whenDoneThere);
  return {
    status: 200,
    title: words.goingTo(host),
    body: html`${monogram(host)}
      <h1>${openYourself(host)}</h1>
      <p class="lead">${notEncrypted}</p>
      <p class="address" dir="ltr">${url}</p>`,
  };
}
