/** The pages between Slack and our sign-in. Pure: data in, `Page` out. */
import { detail, exclamation, monogram, tick } from '../elements.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { plain } from '../outcome-pages.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { PageWords } from '../words.ts';

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
  const { slack: words } = view.words;
  return {
    status: 200,
    title: words.connect,
    body: html`${monogram('Slack')}
      <h1>${words.isThisYou}</h1>
      <p class="lead">${words.lead(name, teamName, signedInAs)}</p>
      <dl>
        ${detail(words.inSlack, html`${name} (${slackUser})`)} ${detail(words.workspace, html`${teamName}`)}
        ${detail(words.actsAs, html`${signedInAs}`)}
      </dl>
      <p class="remark">${isProved ? words.slackConfirms : words.onlyIfYou}</p>
      ${postForm(
        view,
        '/slack/link',
        {},
        html`<button>${isProved ? words.continueWithSlack : words.thisIsMe}</button>`,
        html`class="actions"`,
      )}`,
    footer: signedIn(view, null),
  };
}

export function linkedPage({ slack }: PageWords, name: string, teamName: string): Page {
  return plain(200, tick, [slack.connected, slack.actsAsYou(name, teamName)]);
}

export function installPage(view: SignedIn): Page {
  const { slack: words } = view.words;
  return {
    status: 200,
    title: words.add,
    body: html`${monogram('Slack')}
      <h1>${words.addToWorkspace}</h1>
      <p class="lead">${words.addLead(view.tenant)}</p>
      ${postForm(view, '/slack/install', {}, html`<button>${words.add}</button>`, html`class="actions"`)}`,
    footer: signedIn(view, null),
  };
}

export function notOperatorPage(view: SignedIn): Page {
  const { onlyOperators, askAnOperator } = view.words.slack;
  return {
    status: 403,
    title: onlyOperators,
    body: html`${exclamation}
      <h1>${onlyOperators}</h1>
      <p class="lead">${askAnOperator(view.signedInAs)}</p>`,
    footer: signedIn(view, null),
  };
}

export function installedPage({ slack }: PageWords, teamName: string): Page {
  return { ...plain(200, tick, [slack.addedTo(teamName), slack.invite]), title: slack.added };
}
