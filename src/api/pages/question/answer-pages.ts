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
import { questionForm, questionPage, words } from './question-page.ts';
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
  const { asker, host } = view;
  const server = html`<strong>${asker ?? ''}</strong>${host !== undefined && html`<small>${host}</small>`}`;
  const form = formOf(asked, refused);
  const agent = view.askedBy.at(-1) ?? 'An agent';
  const headings = {
    approval: `${agent} asks for your approval`,
    form: `${asker ?? agent} asks you`,
    link: `${asker ?? agent} asks you to open a page`,
  };
  const page = questionPage(view, {
    heading: headings[asked.kind],
    details: asker === undefined ? html`` : detail(host === undefined ? 'Tool' : 'Server', server),
    form: questionForm(view, {
      ...form,
      yes: { action: 'accept', label: form.yes },
      fields: html`${refused && html`<p class="problem" role="alert">${refused.problem}</p>`} ${form.fields}`,
    }),
    isWide: asked.kind !== 'link',
  });
  return refused ? { ...page, status: 422, title: `Not answered yet: ${page.title}` } : page;
}

function formOf(asked: Asked, refused: Refused | undefined): { yes: string; no?: string; fields: Html } {
  switch (asked.kind) {
    case 'approval':
      return { yes: words.approve, no: words.decline, fields: approvalFields(asked) };
    case 'form': {
      const { fields } = asked;
      const shown = formFields(fields, refused?.typed ?? null, refused?.problems ?? new Map());
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

function approvalFields({ arguments: shown, toolName }: Extract<Asked, { kind: 'approval' }>): Html {
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

const doneWords: Record<Asked['kind'], [heading: string, now: string, before: string]> = {
  approval: ['Approved', 'The agent makes this call now.', 'You have approved this call.'],
  form: ['Answered', 'The agent goes on with what you said.', 'You have answered this already.'],
  link: ['Done', 'The agent goes on.', 'This is settled already.'],
};

/** How the question ended. `now`: this request settled it; `before`: it was settled earlier. */
export function settledPage(
  { kind }: Asked,
  status: Exclude<Status, 'pending'>,
  when: 'now' | 'before',
): Page {
  if (status === 'cancel' || status === 'expired') return finishedPage(status);
  const [heading, now, before] =
    status === 'accept'
      ? doneWords[kind]
      : [
          kind === 'approval' ? 'Declined' : 'Not now, then',
          'The agent goes on without it.',
          'You have decided this already.',
        ];
  const explanation = `${when === 'now' ? now : before} You can close this window and go back to where you were asked.`;
  return { ...plain(200, status === 'accept' ? tick : dash, heading, explanation), wayBack: 'button' };
}

/** The response to “Open”. */
export function onwardPage({ url, host }: Extract<Asked, { kind: 'link' }>): Page {
  if (isSafeToOpen(url))
    return leavingPage(host, url, html`When you are done there, the agent goes on by itself.`);
  return {
    status: 200,
    title: `Going to ${host}`,
    body: html`${monogram(host)}
      <h1>Open ${host} yourself</h1>
      <p class="lead">
        The address is not encrypted, so it is not opened from here. Copy it if you trust it:
      </p>
      <p class="address" dir="ltr">${url}</p>`,
  };
}
