/** What Slack shows and the agent says there, in English. Mrkdwn, unless it is about a window's title, label or button. */
import { en as shared } from '@interlude-ai/core/elicitation/words/en.ts';
import type { UrlWarning } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { warningText } from '@interlude-ai/core/elicitation/url-safety.ts';
import { en as ofTurn } from '../../../../turn/words/en.ts';

export type SlackWords = typeof en;

export const en = {
  language: 'en' as Language,
  /** Of forms: as on pages and in the widget. */
  shared,
  ownQuestion: ofTurn.question,
  turnFailure: ofTurn.turnFailure,

  // Questions in the thread.
  asks: (asker: string) => `${asker} asks`,
  forAgent: (asker: string, agent: string) => `${asker} (for ${agent})`,
  theAgent: 'The agent',
  review: 'Review',
  connect: 'Connect',
  open: 'Open',
  answer: 'Answer',
  refuse: 'Refuse',
  notNow: 'Not now',
  stop: 'Stop',
  /** `elsewhere`: neither in Slack nor on a page opened from Slack. */
  outcomes: {
    approved: { here: 'Approved.', elsewhere: 'Approved elsewhere.' },
    connected: { here: 'Connected.', elsewhere: 'Connected elsewhere.' },
    opened: { here: 'Opened.', elsewhere: 'Opened elsewhere.' },
    answered: { here: 'Answered.', elsewhere: 'Answered elsewhere.' },
    refused: { here: 'Refused.', elsewhere: 'Refused elsewhere.' },
    declined: { here: 'Declined.', elsewhere: 'Declined elsewhere.' },
    dismissed: { here: 'Dismissed.', elsewhere: 'Dismissed elsewhere.' },
  },
  expired: 'Nobody answered in time.',
  closed: {
    server_gave_up: 'The server that asked did not wait this long.',
    server_gone: 'The server that asked is gone.',
  },

  // The window of a question.
  windows: { form: 'A question for you', approval: 'Your approval', link: 'Open a page' },
  connectAccount: 'Connect an account',
  close: 'Close',
  yes: 'Yes',
  no: 'No',
  noAnswer: 'No answer',
  send: 'Send',
  decide: 'Decide',
  agree: 'Agree',
  headFor: (asking: string, agents: string) => `${asking}, for ${agents}:`,
  /** `time`: in the reader's zone. */
  openUntil: (time: string) => `Open until ${time}.`,
  closingDecidesNothing: 'Nothing is decided by closing this window.',
  onPageInstead: 'Answer on a page instead',
  isOnHost: (host: string) => `It is on *${host}*, and you open it in the next step:`,
  willBeSent: 'This will be sent:',
  willBeSentTo: (tool: string) => `This will be sent to \`${tool}\`:`,
  yourDecision: 'Your decision',
  decisions: {
    once: 'Allow once',
    conversation: 'Allow in this conversation',
    always: 'Always allow',
    refuse: 'Refuse',
  },
  whyRefuse: 'If you refuse, why?',
  agentReadsIt: 'The agent reads it.',
  connectOnPage: 'You connect it on this page, signed in as yourself:',
  answerOnPage: 'You answer it on this page, signed in as yourself:',
  openPage: 'Open the page',
  thisIsThePage: 'This is the page:',
  continue: 'Continue',
  agreedToOpen: (host: string) =>
    `You agreed to open a page on ${host}. When you are done there, the agent goes on by itself.`,
  warning: (warning: UrlWarning) => warningText(warning),
  answerOnItsWay: 'Your answer is on its way. You can close this window.',
  answerArrived: 'Your answer is there.',
  answerUncertain: 'Your answer may not have been taken. Open the question again.',
  chooseOne: 'Choose one of these.',
  answeredOnItsPage: 'This question is answered on its page.',
  misfit: 'The answer does not fit the question. Please check it.',
  settledAlready: (outcome: string) => `This question is settled already. ${outcome}`,
  noted: 'Noted: not now.',

  // The app's home.
  waitsForYou: 'What waits for you',
  nothingWaits: 'Nothing at the moment.',
  yourPage: 'your page',
  /** `page` is a link with the words above. */
  moreOn: (count: number, page: string) => `And ${count} more, on ${page}.`,
  yourConnections: 'Your connections',
  changeThemOn: (page: string) =>
    `You change them on ${page}. Mention me in a channel, or write to me directly.`,
  whoAreYou: 'Who are you?',
  haveToKnow:
    'Before I can help, I have to know whose accounts I use for you. The button sends you a link in our direct messages, which is for you alone.',
  connectYourAccount: 'Connect your account',
  nothingToConnect: 'There is nothing to connect.',
  connections: {
    missing: (server: string) => `${server} – not connected`,
    connected: (server: string) => `${server} – connected`,
    broken: (server: string) => `${server} – has to be connected again`,
  },
  forYourTeam: (connection: string) => `${connection}, for your team`,
  andMore: (count: number) => `… and ${count} more`,

  // What the agent says about itself.
  atWork: 'is at work…',
  nothingToAdd: 'Done. There is nothing to add.',
  stopped: 'Stopped.',
  superseded: 'I left this for what you wrote next.',
  notBegun: 'I could not begin with this. Send it again.',
  notFinished: (why: string) => `I could not finish this: ${why}`,
  notTaken: (why: string) => `I could not take this: ${why}`,
  whatCanIDo: 'What can I do for you? Write it after my name, or in this thread.',
  busy: 'I am still at work on what you wrote before; this comes next.',
  offer: (link: string) =>
    `Before I can help, I have to know who you are. <${link}|Connect your account> – this link is only for you, and works for 30 minutes. What you asked goes on by itself then.`,
  notShown: {
    'not-linked': 'I do not know who you are yet. Connect your account first: `/interlude link`.',
    unknown: 'There is no such question any more.',
    'not-yours': 'This is for another person: only the person who was asked can answer it.',
  },
  stops: {
    stopped: 'I stop.',
    idle: 'I am not at work on anything of yours here.',
    'not-theirs': 'Only the person who asked me can stop me.',
  },
  strangers: {
    guest:
      'I answer members of this workspace. If you have an account of your own with us, connect it with `/interlude link`, then ask again.',
    external:
      'I answer members of this workspace only. An admin can send you a link with `/interlude link @you`.',
  },

  // The slash command.
  help: [
    'Mention me in a channel, or write to me directly. In the thread of my answer you need not mention me again.',
    '• `/interlude questions` – what waits for you',
    '• `/interlude stop` – ends what I am doing for you in this channel',
    '• `/interlude link`, `/interlude unlink` – whose accounts I use for you',
    '• `/interlude agent` – who answers in this channel; `/interlude agent <name>` changes it, for admins',
  ].join('\n'),
  whoAnswersHere: (agent: string, all: string) => `${agent} answers here. All agents: ${all}.`,
  onlyAdminsChoose: 'Only admins of this workspace choose who answers in a channel.',
  noSuchAgent: (all: string) => `There is no agent of this name. The agents are: ${all}.`,
  answersNewThreads: (agent: string) => `New threads in this channel are answered by ${agent}.`,
  openTheLink: 'Open the link that only you see here. It works for 30 minutes.',
  onlyAdminsSendLinks: 'Only admins of this workspace send links to others.',
  cannotWriteToThem: 'I cannot write to them.',
  sentLinkTo: (person: string) => `I have sent a link to ${person}, in our direct messages.`,
  unlinked: 'I do not know you any more. What you wrote to me from here on needs a new link.',
  noQuestions: (page: string) => `Nothing waits for you. What you have connected is on ${page}.`,
  questions: (count: number, page: string) =>
    `${count === 1 ? 'One question waits' : `${count} questions wait`} for you: in the threads where they were asked, and on ${page}.`,
};
