/** On the settings page: who acts as the person in Slack. Pure. */
import type { ShownLink } from '../../../service/slack/links.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import type { SignedIn } from '../signed-in.ts';
import { timeOf } from '../times.ts';

export function slackList(view: SignedIn, links: ShownLink[]): Html {
  return html`<section class="approvals" id="slack">
    <h2>In Slack</h2>
    <p class="remark">What is written there to the agent is done as you.</p>
    <ul>
      ${links.map((link) => item(view, link))}
    </ul>
  </section>`;
}

function item(view: SignedIn, { team, slackUser, teamName, linkedAt }: ShownLink): Html {
  return html`<li>
    <div>
      <h3>${teamName}</h3>
      <p class="host">${slackUser}, since ${timeOf(linkedAt, 'day')}</p>
    </div>
    <form method="post" action="${view.publicUrl}/connections/slack">
      <input type="hidden" name="team" value="${team}" />
      <input type="hidden" name="slackUser" value="${slackUser}" />
      <input type="hidden" name="csrf" value="${view.csrf}" />
      <button class="quiet">Disconnect<span class="unseen"> ${teamName} in Slack</span></button>
    </form>
  </li>`;
}
