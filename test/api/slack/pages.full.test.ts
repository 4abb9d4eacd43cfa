/** The pages between Slack and the service in a real browser: what a person sees of them, in light, in dark and on a phone, and what a reader of screens finds. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { openPersonsBrowser } from '../../e2e/person.ts';
import type { Person } from '../../e2e/person.ts';
import { addSignIn } from '../../servers/slack/sign-in.ts';
import { useSlackService } from './slack-service.ts';

const operatorIsBob = { AUTH_OPERATOR_ROLE: 'bob', AUTH_OPERATOR_CLAIM: 'sub' };
const setup = await useSlackService({ env: operatorIsBob, prepareSlack: addSignIn });
const { slack, acme, signIn } = setup;

let browser: Browser;
let person: Person;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  person = await openPersonsBrowser(browser);
});
afterEach(() => person.leave());

async function linkFor(by: string): Promise<string> {
  const isOffer = ({ args }: { args: Record<string, unknown> }) =>
    args['user'] === by && String(args['text']).includes('/slack/link?t=');
  await setup.write({ by, text: `<@${acme.botUser}> hello` });
  const offers = await slack.until(isOffer);
  return /<([^|>]+)\|/.exec(String(offers.at(-1)?.args['text']))?.[1] ?? '';
}

test('a person connects Slack, is somebody else there at first, and finds it on the settings page', async () => {
  acme.addUser('U1', { name: 'ally <b>&amp; a rather long name of somebody with four given names' });
  const link = await linkFor('U1');
  await person.open(link);
  await person.sees('Who are you?');
  await person.press('Continue as Alice');
  await person.sees('Is this you in Slack?');
  signIn.person = { team: 'T1', user: 'U2' };
  await person.press('Continue with Slack');
  await person.sees('You are another user in Slack');
  await person.open(link);
  await person.sees('Is this you in Slack?');
  signIn.person = { team: 'T1', user: 'U1' };
  await person.press('Continue with Slack');
  await person.sees('Slack is connected');
  await person.open(link);
  await person.sees('This link does not work any more');
  await person.open(`${setup.service.baseUrl}/connections`);
  await person.page.getByRole('heading', { name: 'In Slack' }).waitFor();
  await person.sees('Your connections');
  await person.press('Disconnect Acme in Slack');
  await person.page.getByRole('heading', { name: 'In Slack' }).waitFor({ state: 'detached' });
});

test('the whole way works with the keyboard alone', async () => {
  acme.addUser('U3');
  await person.open(await linkFor('U3'));
  signIn.person = { team: 'T1', user: 'U3' };
  await person.page.getByRole('heading', { name: 'Who are you?' }).waitFor();
  await person.tabTo('Continue as Alice');
  await person.page.getByRole('heading', { name: 'Is this you in Slack?' }).waitFor();
  await person.tabTo('Continue with Slack');
  await person.sees('Slack is connected');
});

test('an operator adds the app to a workspace; nobody else does', async () => {
  const install = `${setup.service.baseUrl}/slack/install`;
  await person.open(install);
  await person.press('Continue as Alice');
  await person.sees('Only operators add the agent to Slack');
  await person.leave();
  person = await openPersonsBrowser(browser);
  signIn.choose = slack.addWorkspace('T5', 'Globex & Sons <i>');
  await person.open(install);
  await person.press('Continue as Bob');
  await person.sees('Add the agent to a workspace');
  await person.press('Add to Slack');
  await person.sees('Added to Globex & Sons <i>');
  await person.page.reload();
  await person.sees('This cannot be finished here');
  expect(await setup.service.storage.slack.installations.get('T5')).toMatchObject({ installedBy: 'bob' });
});
