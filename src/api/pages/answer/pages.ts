/** The pages of forms, approvals and links. Pure: data in, `Page` out; no JavaScript needed. */
import type { Status, Context } from '../../../elicitation/elicitation.ts';
import { isSafeToOpen, warningText, inspectUrl } from '../../../elicitation/url-safety.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import { isApproval } from '../../../elicitation/approval.ts';
import { askerTitle, whoAsks } from '../../../elicitation/elicitation.ts';
import type { Field } from '../../../elicitation/form/field.ts';
import { readRequestedSchema } from '../../../elicitation/form/requested-schema.ts';
import { plainLine, plainMessage } from '../../../elicitation/plain-text.ts';
import type { Question } from '../../../service/questions.ts';
import { detail, dash, monogram, tick } from '../elements.ts';
import type { Page } from '../layout.ts';
import { finishedPage } from '../outcome-pages.ts';
import { dismissal, questionFields, timeLeft } from '../question/pages.ts';
import { signedIn, signedInAs } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';
import type { PagesParts } from '../context.ts';
import type { Session } from '../login/session.ts';
import { formFields } from './form-fields.ts';
import type { Typed } from './form-fields.ts';

/** An answer that did not fit, with what was typed. */
export interface Refused {
  typed: Typed;
  /** By field. */
  problems: Map<string, string>;
  /** About the answer as a whole. */
  problem?: string | undefined;
}

export function answerPage(view: AnswerView, refused?: Refused): Page {
  const { asked, asker, host, askedBy, warnings, publicUrl } = view;
  const heading = headingOf(view);
  return {
    status: refused ? 422 : 200,
    title: refused ? `Not answered yet: ${heading}` : heading,
    isWide: asked.kind !== 'link',
    body: html`
      ${monogram(asker ?? askedBy.at(0) ?? 'Question')}
      <h1>${heading}</h1>
      <p class="lead message" dir="auto">${view.message}</p>
      <dl>
        ${detail('Asked by', html`<strong>${askedBy.join(' → ')}</strong>`)}
        ${asker !== undefined && detail(host === undefined ? 'Tool' : 'Server', html`<strong>${asker}</strong>${host !== undefined && html`<small>${host}</small>`}`)}
        ${timeLeft(view)}
      </dl>
      ${warnings.map((warning) => html`<p class="warning">${warningText(warning)}</p>`)}
      ${refused?.problem !== undefined && html`<p class="warning" role="alert">${refused.problem}</p>`}
      <form method="post" action="${publicUrl}/auth/answer" novalidate>
        ${questionFields(view)} ${inputs(asked, refused)}
        <div class="actions">${buttons(asked)}</div>
      </form>
      ${dismissal(view, '/auth/answer')}
    `,
    footer: signedIn(view, view.elicitationId),
  };
}

function headingOf({ asked, asker, askedBy }: AnswerView): string {
  switch (asked.kind) {
    case 'approval':
      return `${askedBy.at(-1) ?? 'An agent'} asks for your approval`;
    case 'form':
      return `${asker ?? askedBy.at(-1) ?? 'An agent'} asks you`;
    case 'link':
      return `${asker ?? askedBy.at(-1) ?? 'An agent'} asks you to open a page`;
    default:
      return asked satisfies never;
  }
}

function inputs(asked: Asked, refused: Refused | undefined): Html {
  switch (asked.kind) {
    case 'approval':
      return html`${
          asked.arguments !== undefined &&
          html`<figure class="arguments">
            <figcaption id="arguments">
              This will be sent${asked.toolName !== undefined && html` to <code>${asked.toolName}</code>`}:
            </figcaption>
            <pre tabindex="0" aria-labelledby="arguments">${asked.arguments}</pre>
          </figure>`
        }
        <div class="field">
          <label for="remember">Next time</label>
          <select id="remember" name="remember">
            <option value="">Ask me again</option>
            <option value="conversation">Do not ask in this conversation</option>
            <option value="always">Do not ask again</option>
          </select>
        </div>
        <details class="field">
          <summary>Refuse with a reason</summary>
          <label for="reason">Why not? <small>optional; the agent reads it</small></label>
          <textarea id="reason" name="reason" rows="2" maxlength="1000"></textarea>
        </details>`;
    case 'form':
      return html`${formFields(asked.fields, refused?.typed ?? null, refused?.problems ?? new Map())}`;
    case 'link':
      return html`<p class="address" dir="ltr">${asked.url}</p>`;
    default:
      return asked satisfies never;
  }
}

function buttons(asked: Asked): Html {
  const [yes, no] = buttonWords(asked);
  return html`<button name="action" value="accept">${yes}</button>
    <button name="action" value="decline" class="quiet" formnovalidate>${no}</button>`;
}

function buttonWords(asked: Asked): [yes: string, no: string] {
  switch (asked.kind) {
    case 'approval':
      return ['Approve', 'Refuse'];
    case 'form':
      return [asked.fields.length === 0 ? 'Yes' : 'Send', asked.fields.length === 0 ? 'No' : 'Not now'];
    case 'link':
      return [`Open ${asked.host}`, 'Not now'];
    default:
      return asked satisfies never;
  }
}

/** How the question ended. `now`: this request settled it; `before`: it was settled earlier. */
export function settledPage(
  { asked }: Pick<AnswerView, 'asked'>,
  status: Exclude<Status, 'pending'>,
  when: 'now' | 'before',
): Page {
  switch (status) {
    case 'accept': {
      const { heading, now, before } = doneWords(asked);
      return outcome(
        tick,
        heading,
        `${when === 'now' ? now : before} You can close this window and go back to where you were asked.`,
      );
    }
    case 'decline':
      return outcome(
        dash,
        asked.kind === 'approval' ? 'Refused' : 'Not now, then',
        when === 'now'
          ? 'The agent goes on without it. You can close this window.'
          : 'You have decided this already. You can close this window.',
      );
    case 'cancel':
    case 'expired':
      return finishedPage(status);
    default:
      return status satisfies never;
  }
}

function doneWords(asked: Asked): { heading: string; now: string; before: string } {
  switch (asked.kind) {
    case 'approval':
      return {
        heading: 'Approved',
        now: 'The agent makes this call now.',
        before: 'You have approved this call.',
      };
    case 'form':
      return {
        heading: 'Answered',
        now: 'The agent goes on with what you said.',
        before: 'You have answered this already.',
      };
    case 'link':
      return { heading: 'Done', now: 'The agent goes on.', before: 'This is settled already.' };
    default:
      return asked satisfies never;
  }
}

function outcome(mark: Html, heading: string, explanation: string): Page {
  return {
    status: 200,
    title: heading,
    body: html`${mark}
      <h1>${heading}</h1>
      <p class="lead">${explanation}</p>`,
    wayBack: 'button',
  };
}

/** The response to “Open”. Not a redirect: `form-action` of our Content-Security-Policy would block it. */
export function onwardPage({ url, host }: Extract<Asked, { kind: 'link' }>): Page {
  if (!isSafeToOpen(url))
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
  return {
    status: 200,
    title: `Going to ${host}`,
    onwardUrl: url,
    body: html`${monogram(host)}
      <h1>Taking you to ${host}</h1>
      <p class="lead">When you are done there, the agent goes on by itself.</p>
      <div class="actions"><a class="button" href="${url}" rel="noreferrer">Continue</a></div>`,
  };
}

export type Asked =
  | { kind: 'approval'; arguments: string | undefined; toolName: string | undefined }
  | { kind: 'form'; fields: Field[] }
  | { kind: 'link'; url: string; host: string };

interface AnswerView extends SignedIn {
  elicitationId: string;
  asked: Asked;
  message: string;
  /** The server or tool that asks or whose call it is about. Undefined: the model asks. */
  asker: string | undefined;
  host: string | undefined;
  /** The agent, then those it delegated to. */
  askedBy: string[];
  warnings: NonNullable<Context['warnings']>;
  deadline: Date;
  minutesLeft: number;
}

export function answerView(
  { id, request, deadline }: Question,
  { http, agents }: PagesParts['config'],
  session: Session,
): AnswerView {
  const { context, message } = request;
  const titleOf = (agent: string) => agents.get(agent)?.title ?? agent;
  const asker = askerTitle({ ...context, agent: undefined });
  return {
    elicitationId: id,
    asked: askedOf(request),
    message: plainMessage(message),
    asker: asker === undefined ? undefined : plainLine(asker),
    host: context.host,
    askedBy: whoAsks(context).map(titleOf),
    warnings: context.warnings ?? [],
    deadline: new Date(deadline),
    minutesLeft: Math.floor((deadline - Date.now()) / 60_000),
    ...signedInAs(session, http.publicUrl),
  };
}

function askedOf(request: Question['request']): Asked {
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
