/** What the hosted pages say, in English, beside what the widget says, too. */
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { en as shared } from '@interlude-ai/core/elicitation/words/en.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { operatorsEn } from '../operators/words/en.ts';
import type { ToolOutcome } from '../../../turn/event.ts';
import { timelineEn } from '../../../turn/timeline/words/en.ts';
import { en as ofTurn } from '../../../turn/words/en.ts';

export type Text = [heading: string, explanation: string];
/** So that the texts of another language get the same type. */
const text = (...given: Text): Text => given;

function strong(shown: string): Html {
  return html`<strong>${shown}</strong>`;
}

export type PageWords = typeof en;

export const en = {
  language: 'en' as Language,
  ...shared,
  /** A question of our own; others are shown as their servers and tools ask them. */
  ownQuestion: ofTurn.question,
  keyProblem: ofTurn.keyProblem,
  timeline: timelineEn,

  backTo: (host: string) => `Back to ${host}`,
  signedInAs: (person: string) => `Signed in as ${person}.`,
  notYou: 'Not you?',
  signIn: 'Sign in',
  signInAsOther: 'Sign in as someone else',
  goToStart: 'Go to the start page',
  continue: 'Continue',
  yourConnections: 'Your connections',
  askedByLabel: 'Asked by',
  server: 'Server',
  tool: 'Tool',
  permissions: 'Permissions',
  newPermissions: 'New permissions',
  anAgent: 'An agent',
  serverShowsPermissions: (server: string) => `${server} shows them before you agree`,
  askWhom: (contact: string | undefined) => `Ask ${contact ?? 'the operator of this service'}.`,
  goingTo: (where: string) => `Going to ${where}`,
  takingYouTo: (where: string) => `Taking you to ${where}`,
  signInThere: (host: string) => html`You sign in at ${strong(host)} and come back here.`,
  byWayOf: (host: string, isForQuestion: boolean) =>
    html`You go there by way of ${strong(host)}. When its page says that you are done, close it:
    ${isForQuestion ? 'your conversation goes on by itself' : 'open your connections again'}.`,

  /** Before the playground. */
  door: {
    lead: 'Talk to an agent that can stop, ask you, and go on.',
    steps: ['You ask for something', 'The agent stops, and asks you', 'You answer, and it goes on'],
    wish: 'List my open issues in Tracker.',
    question: 'Tracker needs your account before its tools can be used.',
    answer: 'You have 3 open issues in Tracker.',
    waits: 'It waits for minutes, and through a restart. No call is made twice.',
  },
  home: {
    lead: 'This service runs agents, and asks you where they need you. You talk to them in an app, a chat or an editor.',
    connections: 'Your connections and questions',
    api: 'The API, for programs',
  },

  /** Pages on which nothing is left to decide. */
  notices: {
    unknown: text(
      'Nothing is asked here',
      'The link may be incomplete. Open it again from your conversation.',
    ),
    nothingHere: text('There is nothing here', 'Check the address.'),
    incompleteForm: text('Nothing was changed', 'The form is incomplete. Open the page again.'),
    signedOutMeanwhile: text('You are no longer signed in', 'Nothing was changed. Sign in and decide again.'),
    foreignForm: text(
      'Nothing was changed',
      'This form did not come from our page, or you have signed in again since you opened it. Open the page again and decide there.',
    ),
    wayBackNotAllowed: text(
      'This link leads back to a place that is not allowed',
      'Nothing was changed. Open the link from your conversation, or tell the person who gave it to you.',
    ),
    otherBrowser: text(
      'This cannot be finished here',
      'Connecting was begun in another browser, or too long ago. Nothing was connected; begin again where you came from.',
    ),
    otherPersonConnects: text(
      'This cannot be finished here',
      'Another person began to connect, or it was too long ago. Nothing was connected; begin again where you came from.',
    ),
    notYoursToConnect: text(
      'This is not yours to connect',
      'Everybody uses this account, and only an operator connects it. Nothing was connected.',
    ),
    notYourConnection: text('Nothing was changed', 'You have no such connection to change.'),
    signInAway: text(
      'Signing in is not possible right now',
      'The sign-in service does not answer. Try again in a moment.',
    ),
    signInElsewhere: text(
      'This sign-in cannot be finished here',
      'It was begun in another browser or too long ago. Open the page you came from again.',
    ),
    signInNotCompleted: text('You are not signed in', 'The sign-in was not completed.'),
    signInFailed: text(
      'Signing in did not work',
      'The sign-in service gave an answer that cannot be used. Try again.',
    ),
    saidNotNow: text(
      'You said “not now”',
      'This question is answered. To connect after all, ask again in your conversation.',
    ),
    closed: text(
      'This question is closed',
      'It is no longer needed. If something is missing, ask again in your conversation.',
    ),
    expired: text(
      'This question has expired',
      'It waited too long for an answer. Ask again in your conversation to get a new link.',
    ),
    operatorsOnly: text('For operators only', 'Your account does not have the operator’s role.'),
    noSuchTurn: text('No such turn', 'There is no turn with this id in your tenant.'),
    noSuchQuestion: text('No such question', 'There is no question with this id in your tenant.'),
    noContents: text(
      'You may not see contents',
      'That takes a role of its own, which your account does not have.',
    ),
    slackLinkSpent: text(
      'This link does not work any more',
      'It was used, replaced by a newer one, or is too old. Write to the agent in Slack, and it sends you another.',
    ),
    otherInSlack: text(
      'You are another user in Slack',
      'Nothing was changed. The link is for another Slack user than the one who is signed in to Slack here.',
    ),
    slackRefusesClient: text(
      'Slack does not accept this app',
      'An operator has to correct its settings. Nothing was kept here; try again afterwards.',
    ),
    slackAway: text('Slack did not answer as it should', 'Nothing was kept here. Try again in a moment.'),
    installElsewhere: text(
      'This cannot be finished here',
      'It was begun in another browser, used already, or is too old. Begin again.',
    ),
    installRefused: text('Nothing was added', 'Slack says that you did not allow it.'),
    workspaceTaken: text(
      'This workspace is taken',
      'Another organisation has added the agent to it already.',
    ),
    notOneWorkspace: text(
      'Choose one workspace',
      'The agent is added to each workspace by itself, not to a whole organisation.',
    ),
  },

  /** By the code of the API. */
  problems: {
    invalid_request: text(
      'This is not understood',
      'The address or the form is incomplete. Go back, and try again.',
    ),
    not_found: text('There is no page here', 'The address may be mistyped or out of date.'),
    rate_limited: text('Too many tries', 'Wait a minute, then open the page again.'),
    body_too_large: text('That is too much', 'Nothing was changed. Go back, and send less.'),
    unavailable: text(
      'Not available right now',
      'Try again in a moment. What you sent may have arrived nevertheless: the page you came from shows what has come of it.',
    ),
    unknown_host: text('Not the address of this page', 'Open it by the address that you were given.'),
    unsupported_media_type: text('This form is not understood', 'Open the page you came from again.'),
  },
  otherProblem: text('Something went wrong', 'Try again in a moment.'),

  question: {
    asksForApproval: (agent: string) => `${agent} asks for your approval`,
    asksYou: (asker: string) => `${asker} asks you`,
    asksToOpenPage: (asker: string) => `${asker} asks you to open a page`,
    timeLeft: 'Time left',
    lessThanAMinute: 'Less than a minute',
    until: (time: Html) => html`until ${time}`,
    notAnsweredYet: (heading: string) => `Not answered yet: ${heading}`,
    forSomebodyElse: 'This question is for another person',
    onlyTheAsked: (person: string) =>
      html`You are signed in as ${strong(person)}. Only the person who was asked can answer it.`,
    approvedNow: text(
      'Approved',
      'The agent makes this call now. You can close this window and go back to where you were asked.',
    ),
    approvedBefore: text(
      'Approved',
      'You have approved this call. You can close this window and go back to where you were asked.',
    ),
    answeredNow: text(
      'Answered',
      'The agent goes on with what you said. You can close this window and go back to where you were asked.',
    ),
    answeredBefore: text(
      'Answered',
      'You have answered this already. You can close this window and go back to where you were asked.',
    ),
    openedNow: text(
      'Done',
      'The agent goes on. You can close this window and go back to where you were asked.',
    ),
    openedBefore: text(
      'Done',
      'This is settled already. You can close this window and go back to where you were asked.',
    ),
    declined: 'Declined',
    notNow: 'Not now, then',
    declinedNow:
      'The agent goes on without it. You can close this window and go back to where you were asked.',
    declinedBefore:
      'You have decided this already. You can close this window and go back to where you were asked.',
    whenDoneThere: 'When you are done there, the agent goes on by itself.',
    openYourself: (host: string) => `Open ${host} yourself`,
    notEncrypted: 'The address is not encrypted, so it is not opened from here. Copy it if you trust it:',
    misfit: 'The answer does not fit the question. Please check it.',
  },

  account: {
    connectAgain: (server: string) => `Connect ${server} again`,
    notConnected: (server: string) => `${server} is not connected`,
    notGiven: (server: string) =>
      `Access was not given at ${server}. You can try again, or go on without it.`,
    failed: (server: string) => `${server} could not be connected`,
    trouble: ofTurn.accountTrouble,
    inAddition: 'In addition to what you allowed before',
    becomesShared: (server: string, tenant: string) =>
      `This account becomes everybody’s in ${tenant}: agents use ${server} with it for everyone there. Connect one that is meant for all of them, not your own.`,
    isShared: (server: string) => `${server} is shared`,
    onlyAnOperator: (server: string, tenant: string) =>
      `${server} is used with one account for everybody in ${tenant}, and only an operator connects it.`,
    youMay: 'You may do that here.',
    connectedAs: (account: string) => html`Connected as ${strong(account)}.`,
    askAgain:
      'The question had expired meanwhile: ask again in your conversation, and it will work right away.',
    goesOn: 'Your conversation is going on; you can close this window.',
    staysUnconnected: (server: string) => `${server} stays unconnected`,
    notNow: 'Not now, then',
    dismissed: 'The question is dismissed',
    declined: (server: string, connections: Html) =>
      html`${server} was not connected, and the conversation goes on without it. You can close this window, or
      connect it later among ${connections}.`,
    cancelled: (server: string, connections: Html) =>
      html`${server} was not connected; ask again in your conversation when it suits you. You can close this
      window, or connect it later among ${connections}.`,
    /** As the last words of the two above. */
    amongConnections: 'your connections',
    signedOut: 'Signed out',
    youAreSignedOut: 'You are signed out',
    signInToAnswer: 'Sign in as the person who was asked to answer the question.',
    signInToSeeConnections: 'Sign in again to see your connections.',
  },

  key: {
    label: (server: string) => `Your API key for ${server}`,
    use: (host: string) => `It is kept encrypted, and sent to ${host} only.`,
    thoseOfYourKey: 'Those that your key has',
    mustHaveThem: 'Your key has to have them',
    notConnectedYet: (heading: string) => `Not connected yet: ${heading}`,
    replaceYours: (server: string) => `Replace your key for ${server}`,
    replaceShared: (server: string) => `Replace everybody’s key for ${server}`,
    usesYours: (server: string) => `Agents use ${server} with an API key of yours.`,
    usesShared: (server: string) => `Agents use ${server} with an API key.`,
    takesThePlace: 'The new key takes the place of the one before, which is forgotten here.',
    replace: 'Replace key',
    now: 'Now',
  },

  settings: {
    nav: { label: 'Your pages', waiting: 'Waiting for you', accounts: 'Accounts', history: 'Answered' },
    nothing: 'Nothing here needs an account of yours.',
    lead: 'Accounts that agents may use, and as whom.',
    connected: (server: string) => `${server} is connected. Conversations that waited for it go on.`,
    connectedAs: (server: string, account: string) =>
      html`${server} is connected as ${strong(account)}. Conversations that waited for it go on.`,
    apiKey: 'API key',
    notInUse: 'Not in use',
    isConnected: 'Connected',
    notWorking: 'Not working',
    isNotConnected: 'Not connected',
    sharedByYou: 'One account for everybody in your organisation. You look after it.',
    sharedByOperators: 'One account for everybody in your organisation. Operators look after it.',
    broken: {
      rejectedKey: (server: string) => `${server} does not accept this key any more.`,
      rejected: (server: string) => `${server} does not accept this access any more.`,
      insufficient_scope: (server: string) => `It lacks a permission that ${server} asks for.`,
      revoked: (server: string) => `Access was withdrawn at ${server}, or has run out.`,
      usedWithKey: (server: string) => `${server} is used with an API key now.`,
      server_changed: (server: string) => `${server} has moved to another address since you connected it.`,
      unused: (_server: string) =>
        'No agent uses this server any more. Disconnect it, and its access is forgotten.',
      unreadableKey: (_server: string) => 'What it is encrypted with is missing, so it cannot be used.',
      unreadable: (_server: string) => 'It is kept with a key that is missing, so it cannot be used.',
      client_refused: (server: string) =>
        `The sign-in of ${server} does not accept this service at the moment. Its operator has to correct that; you need not connect again.`,
    },
    connectedAsLabel: 'Connected as',
    since: 'Since',
    connect: 'Connect',
    reconnect: 'Reconnect',
    disconnect: 'Disconnect',
    waitingForYou: 'Waiting for you',
    waitingLead: 'Agents wait for these answers, and go on as soon as they have them.',
    nothingWaits: 'Nothing. When an agent needs you, its question is here, too.',
    history: 'What you answered',
    historyLead: 'Your latest answers, and what came of them.',
    nothingAnswered: 'You have not answered anything yet.',
    ends: {
      running: 'Under way',
      ok: 'Done',
      tool_error: 'Did not work',
      decline: 'Not done',
      cancel: 'Not done',
      expired: 'Not done',
      not_asked: 'Not done',
      refused: 'Account refused',
      not_allowed: 'Not allowed',
      unreachable: 'Not reached',
      unknown: 'Outcome unknown',
      stopped: 'Stopped, outcome unknown',
      failed: 'Did not work',
    } satisfies Record<ToolOutcome | 'running', string>,
    waitsUntil: (asker: string, time: Html) => html`${asker} waits until ${time}`,
    answer: 'Answer',
    approvals: 'Approved in advance',
    approvalsLead: 'Agents call these tools without asking you.',
    toolOfAgent: 'Tool of this agent',
    inAllConversations: (day: Html) => html`In all conversations, since ${day}`,
    inOneConversation: (day: Html) => html`In one conversation, since ${day}`,
    askMeAgain: 'Ask me again',
    before: (tool: string, server: string) => `before ${tool} in ${server}`,
    slack: 'In Slack',
    slackLead: 'What is written there to the agent is done as you.',
    slackUserSince: (slackUser: string, day: Html) => html`${slackUser}, since ${day}`,
    workspaceInSlack: (workspace: string) => `${workspace} in Slack`,
  },

  connection: {
    disconnectWhich: (server: string) => `Disconnect ${server}?`,
    disconnect: (server: string) => `Disconnect ${server}`,
    willNotUse: (account: string | null, { isKey, isShared }: { isKey: boolean; isShared: boolean }) => {
      const noun = isKey ? 'key' : 'account';
      const whose = isShared ? `everybody’s ${noun}` : isKey ? 'your' : 'your account';
      const what = account === null ? html`this ${noun}` : html`${whose} ${strong(account)}`;
      return html`Agents will no longer be able to use ${what}. What is under way right now may still be
      finished.`;
    },
    sharedAfterwards: 'People who need it will read whom to ask.',
    ownAfterwards: 'The next time an agent needs it, you are asked again.',
    keep: 'Keep it',
    disconnected: (server: string) => `${server} is disconnected`,
    wasBefore: 'It was disconnected before.',
    keyForgotten: (server: string) =>
      `Your key is forgotten here. At ${server} it is still good: delete it there if nothing else needs it.`,
    endedThere: (server: string) => `Its access is forgotten here and ended at ${server}.`,
    notEndedThere: (server: string) =>
      `Its access is forgotten here, but ${server} could not be told. To be sure, remove Interlude in the settings of your account there, too.`,
    cannotEndThere: (server: string) =>
      `Its access is forgotten here. ${server} has no way to be told. To be sure, remove Interlude in the settings of your account there, too.`,
    wasNotConnected: (server: string) => `${server} was not connected`,
    notGiven: (server: string) => `Access was not given at ${server}. Nothing was changed.`,
    mayUse: 'Agents that you talk to may use your account there, until you disconnect it.',
    untilNow: 'Until now',
    connectedAs: (account: string) => html`connected as ${strong(account)}`,
  },

  otherWindow: {
    failed: 'Something went wrong on the way. You can try again.',
    heading: 'Finish in the other window',
    lead: (server: string) =>
      `Sign in to ${server} there and agree. This page notices by itself when you are done.`,
    noWindow: 'No other window?',
    here: 'Continue in this one',
  },

  operators: operatorsEn,

  slack: {
    connect: 'Connect Slack',
    isThisYou: 'Is this you in Slack?',
    lead: (slackName: string, workspace: string, person: string) =>
      html`What ${strong(slackName)} writes to the agent in ${strong(workspace)} will be done as
      ${strong(person)}, with the accounts you connect here.`,
    inSlack: 'In Slack',
    workspace: 'Workspace',
    actsAs: 'Acts as',
    slackConfirms: 'Slack is asked next whether this is you.',
    onlyIfYou:
      'Go on only if this is you, and you asked for this in Slack yourself. If another person sent you the link, close this page.',
    continueWithSlack: 'Continue with Slack',
    thisIsMe: 'Yes, this is me',
    saysWhoYouAre: 'Slack says who you are there, and nothing else.',
    connected: 'Slack is connected',
    actsAsYou: (slackName: string, workspace: string) =>
      `${slackName} in ${workspace} acts as you now. What you asked there goes on; you can close this window.`,
    foreignWorkspace: (workspace: string) =>
      text(
        'This workspace is not of your organisation',
        `Nothing was changed. ${workspace} belongs to another organisation than the account you are signed in with.`,
      ),
    add: 'Add to Slack',
    addToWorkspace: 'Add the agent to a workspace',
    addLead: (tenant: string) =>
      html`Its people act here as members of ${strong(tenant)}, each as themselves.`,
    chooseThere: 'There you choose the workspace.',
    onlyOperators: 'Only operators add the agent to Slack',
    askAnOperator: (person: string) =>
      html`You are signed in as ${strong(person)}. Ask an operator of the service.`,
    added: 'Added to Slack',
    addedTo: (workspace: string) => `Added to ${workspace}`,
    invite: 'Invite the agent to a channel and mention it, or write to it directly.',
  },
};
