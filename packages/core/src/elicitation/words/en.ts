import type { UrlWarning } from '../elicitation.ts';

export interface Words {
  conversation: string;
  open: string;
  openWaiting: (count: number) => string;
  close: string;
  composerLabel: string;
  composerPlaceholder: string;
  send: string;
  stop: string;
  welcome: string;
  working: string;
  /** No worker has started the turn. */
  unattended: string;
  reconnecting: string;
  tryAgain: string;
  noAnswer: string;
  earlier: string;
  you: string;
  /** The alternative text of an image. */
  image: string;
  agent: string;
  toolRuns: (tool: string) => string;
  toolWaits: (tool: string) => string;
  toolDone: (tool: string) => string;
  toolFailed: (tool: string) => string;
  toolInput: string;
  toolOutput: string;
  askedBy: (agent: string) => string;
  needsTool: (tool: string) => string;
  connect: (server: string) => string;
  openPage: string;
  openAgain: string;
  waitingForPage: string;
  haveOpened: string;
  notNow: string;
  dismiss: string;
  sendAnswer: string;
  confirm: string;
  needsApproval: string;
  willBeSent: string;
  nextTime: string;
  askEachTime: string;
  allowInConversation: string;
  allowAlways: string;
  whyNot: string;
  declineWithReason: string;
  back: string;
  approve: string;
  decline: string;
  timeLeft: (minutes: number, seconds: number) => string;
  answered: (server: string) => string;
  /** For a page to which a tool sent the user. */
  pageDone: (server: string) => string;
  connected: (server: string) => string;
  approved: string;
  refused: string;
  declined: string;
  dismissed: string;
  closed: string;
  expired: string;
  tooLate: string;
  askAgain: string;
  gaveUp: (server: string) => string;
  waitingForYou: (count: number) => string;
  show: string;
  optional: string;
  choose: string;
  /** The choice that leaves an optional question open. */
  leftOpen: string;
  required: string;
  tooShort: (characters: number) => string;
  tooLong: (characters: number) => string;
  lengthBetween: (least: number, most: number) => string;
  notANumber: string;
  wholeNumber: string;
  notAnEmail: string;
  notAnAddress: string;
  notADate: string;
  notATime: string;
  atLeast: (number: number) => string;
  atMost: (number: number) => string;
  between: (least: number, most: number) => string;
  moreThan: (number: number) => string;
  lessThan: (number: number) => string;
  multipleOf: (number: number) => string;
  chooseAtLeast: (count: number) => string;
  chooseAtMost: (count: number) => string;
  chooseBetween: (least: number, most: number) => string;
  /** Before something is entered: `text` is of the wanted format. */
  forExample: (text: string) => string;
  /** For a time that is entered without a script, which would know the time zone. */
  inUtc: string;
  checkFields: (count: number) => string;
  answerFailed: string;
  missingAccount: (server: string) => string;
  warnings: Record<UrlWarning, string>;
}

export const en: Words = {
  conversation: 'Conversation',
  open: 'Open the conversation',
  openWaiting: (count) =>
    `Open the conversation, ${count === 1 ? 'one question waits for you' : `${count} questions wait for you`}`,
  close: 'Close',
  composerLabel: 'Your message',
  composerPlaceholder: 'Ask something…',
  send: 'Send',
  stop: 'Stop',
  welcome: 'What can I do for you?',
  working: 'Working…',
  unattended: 'Nobody has taken this up yet. Still waiting…',
  reconnecting: 'Connection lost. Reconnecting…',
  tryAgain: 'Try again',
  noAnswer: 'There was no answer.',
  earlier: 'Earlier messages',
  you: 'You',
  image: 'Image',
  agent: 'Agent',
  toolRuns: (tool) => `${tool} is running`,
  toolWaits: (tool) => `${tool} waits for you`,
  toolDone: (tool) => `${tool} is done`,
  toolFailed: (tool) => `${tool} did not work`,
  toolInput: 'Sent',
  toolOutput: 'Received',
  askedBy: (agent) => `Asked by ${agent}`,
  needsTool: (tool) => `for “${tool}”`,
  connect: (server) => `Connect ${server}`,
  openPage: 'Open the page',
  openAgain: 'Open it again',
  waitingForPage: 'Finish in the other window. This goes on by itself.',
  haveOpened: 'I have opened the page',
  notNow: 'Not now',
  dismiss: 'Dismiss',
  sendAnswer: 'Send',
  confirm: 'Confirm',
  needsApproval: 'Your approval is needed',
  willBeSent: 'What will be sent',
  nextTime: 'Next time',
  askEachTime: 'Ask me again',
  allowInConversation: 'Do not ask in this conversation',
  allowAlways: 'Never ask again for this tool',
  whyNot: 'Why not? The agent reads it.',
  declineWithReason: 'Decline and say why',
  back: 'Back',
  approve: 'Approve',
  decline: 'Decline',
  timeLeft: (minutes, seconds) =>
    minutes < 100
      ? `${minutes}:${String(seconds).padStart(2, '0')} left`
      : `${Math.round(minutes / 60)} hours left`,
  answered: (server) => `You answered ${server}`,
  pageDone: (server) => `${server}: the page is done`,
  connected: (server) => `${server} is connected`,
  approved: 'You approved',
  refused: 'You declined',
  declined: 'You said “not now”',
  dismissed: 'You dismissed the question',
  closed: 'No longer needed',
  expired: 'Nobody answered in time',
  tooLate: 'Your answer came too late',
  askAgain: 'Ask again',
  gaveUp: (server) => `${server} did not wait any longer`,
  waitingForYou: (count) => (count === 1 ? 'Waiting for you' : `${count} questions wait for you`),
  show: 'Show',
  optional: 'optional',
  choose: 'Choose…',
  leftOpen: 'No answer',
  required: 'Please fill this in.',
  tooShort: (characters) => `At least ${characters} characters.`,
  tooLong: (characters) => `At most ${characters} characters.`,
  lengthBetween: (least, most) =>
    least === most ? `Exactly ${least} characters.` : `${least} to ${most} characters.`,
  notANumber: 'Please write a number.',
  wholeNumber: 'Please write a whole number.',
  notAnEmail: 'Please write an email address.',
  notAnAddress: 'Please write a whole address, with https://.',
  notADate: 'Please give the whole date, with a year of four digits.',
  notATime: 'Please give the whole date and time, with a year of four digits.',
  atLeast: (number) => `At least ${number}.`,
  atMost: (number) => `At most ${number}.`,
  between: (least, most) => `From ${least} to ${most}.`,
  moreThan: (number) => `More than ${number}.`,
  lessThan: (number) => `Less than ${number}.`,
  multipleOf: (number) => `A multiple of ${number}.`,
  chooseAtLeast: (count) => `Choose at least ${count}.`,
  chooseAtMost: (count) => `Choose at most ${count}.`,
  chooseBetween: (least, most) => (least === most ? `Choose ${least}.` : `Choose ${least} to ${most}.`),
  forExample: (text) => `For example ${text}`,
  inUtc: 'Time in UTC.',
  checkFields: (count) => (count === 1 ? 'Please check one field.' : `Please check ${count} fields.`),
  answerFailed: 'It is not known whether your answer arrived. Try again.',
  missingAccount: (server) => `${server} is not connected.`,
  warnings: {
    punycode: 'This address contains look-alike letters. Continue only if you recognise it.',
    userinfo: 'This address hides a name before its real host. Continue only if you recognise it.',
    ip_host: 'This address is a bare number instead of a name.',
    plain_http: 'The connection to this address is not encrypted.',
  },
};
