/** What the demo's identity provider says, in English. Plain text, unless it is a page's body. */
import type { Language } from '@interlude-ai/core/elicitation/language.ts';

export type DemoWords = typeof en;

export const en = {
  language: 'en' as Language,
  signIn: 'Sign in',
  whoAreYou: 'Who are you?',
  signInToInterlude: 'Sign in to Interlude.',
  continueAs: (name: string) => `Continue as ${name}`,
  letProgramAct: 'Let a program act for you?',
  /** `program` is HTML. */
  asksToAct: (program: string) =>
    `${program} asks to act for you in Interlude. If you did not start it, deny.`,
  programHere: (address: string) => `The program interlude on this computer, at ${address},`,
  programOfCode: 'The program whose code you entered',
  deny: 'Deny',
  noPassword:
    'This is the demo’s identity provider. It asks for no password and listens on this computer only.',
  startAgain: 'Start again',
  notOpen: 'This sign-in is no longer open',
  goBack: 'Go back to where you came from and start again.',
  continue: 'Continue',
  signInProgram: 'Sign in a program',
  denied: 'Denied: the program does not act for you. You can close this page.',
  unknownCode: 'This code is not known. Enter it again.',
  enterCode: 'Enter the code that the program shows.',
  programAt: (program: string, address: string) => `${program}, at ${address},`,
  /** `program` and `code` are HTML. */
  showsCode: (program: string, code: string) =>
    `${program} asks to act for you. Does it show ${code}? If you did not start it, deny.`,
  signedIn: 'You are signed in',
  closeThis: 'You can close this page and go back to the program.',
};
