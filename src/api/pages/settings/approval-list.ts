/** On the settings page: which tools somebody wants to be called without being asked. Pure. */
import { inWords } from '../../../elicitation/wording.ts';
import type { OwnApproval } from '../../../service/approvals.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import { returnField } from '../return-url.ts';
import type { SignedIn } from '../signed-in.ts';
import { timeOf } from '../times.ts';

export function approvalList(view: SignedIn, approvals: OwnApproval[]): Html {
  return html`<section class="approvals" id="approvals">
    <h2>Approved in advance</h2>
    <p class="remark">Agents call these tools without asking you.</p>
    <ul>
      ${approvals.map((approval) => item(view, approval))}
    </ul>
  </section>`;
}

function item(view: SignedIn, { id, serverTitle, host, tool, conversation, createdAt }: OwnApproval): Html {
  const name = inWords(tool) || tool;
  const where = conversation === null ? 'In all conversations' : 'In one conversation';
  return html`<li>
    <div>
      <h3>${serverTitle}: ${name}</h3>
      <p class="host">${host ?? 'Tool of this agent'} · ${where}, since ${timeOf(createdAt, 'day')}</p>
    </div>
    <form method="post" action="${view.publicUrl}/connections/approvals">
      <input type="hidden" name="approval" value="${id}" />
      <input type="hidden" name="csrf" value="${view.csrf}" />
      ${returnField(view)}
      <button class="quiet">Ask me again<span class="unseen"> before ${name} in ${serverTitle}</span></button>
    </form>
  </li>`;
}
