/** What the playground says, in English. */
import { en as shared } from '@interlude-ai/core/elicitation/words/en.ts';
import { timelineEn } from '../../../../turn/timeline/words/en.ts';

export type PlaygroundWords = typeof en;

export const en = {
  tryAgain: shared.tryAgain,
  agent: shared.agent,
  timeline: timelineEn,
  writeMessage: 'Write a message',
  newConversation: 'New conversation',
  newInShort: 'New',
  account: 'Account',
  connections: 'Connections',
  switchUser: 'Switch user',
  signInEnded: 'Your sign-in has ended. The conversation is kept, and goes on when you are signed in again.',
  signInAgain: 'Sign in again',
  otherUser: 'Another user has signed in, in another window of this browser.',
  goOnAsThem: 'Continue as that user',
  noAgents: (why: string) => `Which agents there are could not be read: ${why}`,
  noConversation: 'The conversation in the address is not there, or not yours. This is a new one.',
  notTaken: 'Your last changes have mistakes. The version before them stays active:',
  whatTurnDoes: 'What the turn does',
  behindTheScenes: 'Behind the scenes',
  openInTemporal: 'Open in Temporal',
  seeTerminal: 'The terminal in which Interlude runs says what is wrong.',
  saySomething: 'Say something: what the turn does appears here, with the time since it began.',
  events: 'Events',
  noToken: (status: number) => `No token: the service answered ${status}.`,
  noTokenForOther: 'No token: another user is signed in.',
};
