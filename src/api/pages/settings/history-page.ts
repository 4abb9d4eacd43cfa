/** `/connections/history`: what a person has answered, what came of it, and their approvals in advance. Pure; no JavaScript. */
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { OwnApproval } from '../../../service/approvals.ts';
import type { AnsweredQuestion } from '../../../service/questions.ts';
import { timeOf } from '../elements.ts';
import { postForm } from '../guarded-form.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import type { PageWords } from '../words.ts';
import { settingsPage } from './settings-page.ts';
import type { SettingsView } from './settings-page.ts';
import { askerOf, markOfAsker, shownMessage } from './waiting-page.ts';

interface HistoryView extends SettingsView {
  /** Newest first. */
  answered: AnsweredQuestion[];
  approvals: OwnApproval[];
}

export function historyPage(view: HistoryView): Page {
  const { words, answered, approvals } = view;
  const { history, historyLead, nothingAnswered } = words.settings;
  return settingsPage(view, 'history', {
    heading: history,
    lead: answered.length === 0 ? nothingAnswered : historyLead,
    body: html`${
      answered.length > 0 &&
      html`<ul class="questions">
        ${answered.map((one) => answeredItem(words, one))}
      </ul>`
    }
    ${approvals.length > 0 && approvalList(view, approvals)}`,
  });
}

function answeredItem(words: PageWords, { request, status, settledAt, end }: AnsweredQuestion): Html {
  const at = timeOf(settledAt ?? 0, 'second', words);
  return html`<li>
    ${markOfAsker(words, request)}
    <div>
      <p dir="auto">${shownMessage(words, request)}</p>
      <p class="host">${answerInWords(words, request, status)} · ${at}</p>
    </div>
    ${end !== null && html`<span class="badge ${tones[end] ?? ''}">${words.settings.ends[end]}</span>`}
  </li>`;
}

function answerInWords(
  words: PageWords,
  request: ElicitationRequest,
  status: AnsweredQuestion['status'],
): string {
  const { context } = request;
  if (isApproval(context)) return status === 'accept' ? words.approved : words.refused;
  if (status === 'decline') return words.declined;
  const asker = askerOf(words, request);
  return context.trigger === 'credential_required' ? words.connected(asker) : words.answered(asker);
}

const tones: Partial<Record<NonNullable<AnsweredQuestion['end']>, string>> = {
  ok: 'good',
  tool_error: 'bad',
  refused: 'bad',
  not_allowed: 'bad',
  unreachable: 'bad',
  failed: 'bad',
  unknown: 'warn',
  stopped: 'warn',
};

function approvalList(view: SettingsView, approvals: OwnApproval[]): Html {
  const { settings } = view.words;
  return html`<section class="approvals" id="approvals">
    <h2>${settings.approvals}</h2>
    <p class="remark">${settings.approvalsLead}</p>
    <ul>
      ${approvals.map((approval) => approvalItem(view, approval))}
    </ul>
  </section>`;
}

function approvalItem(
  view: SettingsView,
  { id, serverTitle, host, tool, conversation, createdAt }: OwnApproval,
): Html {
  const { words } = view;
  const { toolOfAgent, inAllConversations, inOneConversation, askMeAgain, before } = words.settings;
  const name = inWords(tool) || tool;
  const where = conversation === null ? inAllConversations : inOneConversation;
  return html`<li>
    <div>
      <h3>${serverTitle}: ${name}</h3>
      <p class="host">${host ?? toolOfAgent} · ${where(timeOf(createdAt, 'day', words))}</p>
    </div>
    ${postForm(
      view,
      '/connections/approvals',
      { approval: id },
      html`<button class="quiet">
        ${askMeAgain}<span class="unseen"> ${before(name, serverTitle)}</span>
      </button>`,
    )}
  </li>`;
}
