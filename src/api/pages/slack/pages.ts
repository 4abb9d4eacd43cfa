/** The pages between Slack and our sign-in. Pure: data in, `Page` out. */
import { detail, exclamation, monogram, tick } from '../elements.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { notice } from '../outcome-pages.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';

interface LinkView extends SignedIn {
  name: string;
  slackUser: string;
  teamName: string;
  /** Sign in with Slack will confirm who the person is. */
  isProved: boolean;
}

/** Accepting lets a Slack user act as the person, so the page says which. */
export function linkPage(view: LinkView): Page {
  const { name, slackUser, teamName, isProved, signedInAs } = view;
  const proof = isProved
    ? 'Slack is asked next whether this is you.'
    : 'Go on only if this is you, and you asked for this in Slack yourself. If somebody sent you the link, close this page.';
  return {
    status: 200,
    title: 'Connect Slack',
    body: html`${monogram('Slack')}
      <h1>Is this you in Slack?</h1>
      <p class="lead">
        What <strong>${name}</strong> writes to the agent in <strong>${teamName}</strong> will be done as
        <strong>${signedInAs}</strong>, with the accounts you connect here.
      </p>
      <dl>
        ${detail('In Slack', html`${name} (${slackUser})`)} ${detail('Workspace', html`${teamName}`)}
        ${detail('Acts as', html`${signedInAs}`)}
      </dl>
      <p class="remark">${proof}</p>
      ${postForm(
        view,
        '/slack/link',
        {},
        html`<button>${isProved ? 'Continue with Slack' : 'Yes, this is me'}</button>`,
        html`class="actions"`,
      )}`,
    footer: signedIn(view, null),
  };
}

export function linkedPage(name: string, teamName: string): Page {
  return {
    status: 200,
    title: 'Slack is connected',
    body: html`${tick}
      <h1>Slack is connected</h1>
      <p class="lead">
        ${name} in ${teamName} acts as you now. What you asked there goes on; you can close this window.
      </p>`,
  };
}

export function spentLinkPage(): Page {
  return notice(
    410,
    'This link does not work any more',
    'It was used, replaced by a newer one, or is too old. Write to the agent in Slack, and it sends you another.',
  );
}

export function foreignWorkspacePage(teamName: string): Page {
  return notice(
    403,
    'This workspace is not of your organisation',
    `Nothing was changed. ${teamName} belongs to another organisation than the account you are signed in with.`,
  );
}

export function otherPersonPage(again: string): Page {
  return notice(
    403,
    'You are somebody else in Slack',
    'Nothing was changed. The link is for another Slack user than the one who is signed in to Slack here.',
    again,
  );
}

export function slackAwayPage(again: string): Page {
  return notice(
    502,
    'Slack did not answer as it should',
    'Nothing was kept here. Try again in a moment.',
    again,
  );
}

export function installPage(view: SignedIn): Page {
  return {
    status: 200,
    title: 'Add to Slack',
    body: html`${monogram('Slack')}
      <h1>Add the agent to a workspace</h1>
      <p class="lead">
        Its people act here as members of <strong>${view.tenant}</strong>, each as themselves.
      </p>
      ${postForm(view, '/slack/install', {}, html`<button>Add to Slack</button>`, html`class="actions"`)}`,
    footer: signedIn(view, null),
  };
}

export function notOperatorPage(view: SignedIn): Page {
  return {
    status: 403,
    title: 'Only operators add the agent to Slack',
    body: html`${exclamation}
      <h1>Only operators add the agent to Slack</h1>
      <p class="lead">
        You are signed in as <strong>${view.signedInAs}</strong>. Ask an operator of the service.
      </p>`,
    footer: signedIn(view, null),
  };
}

export function installedPage(teamName: string): Page {
  return {
    status: 200,
    title: 'Added to Slack',
    body: html`${tick}
      <h1>Added to ${teamName}</h1>
      <p class="lead">Invite the agent to a channel and mention it, or write to it directly.</p>`,
  };
}
