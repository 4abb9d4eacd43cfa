/** What the playground says, in German. */
import { de as shared } from '@interlude-ai/core/elicitation/words/de.ts';
import { timelineDe } from '../../../../turn/timeline/words/de.ts';
import type { PlaygroundWords } from './en.ts';

export const de: PlaygroundWords = {
  tryAgain: shared.tryAgain,
  agent: shared.agent,
  timeline: timelineDe,
  writeMessage: 'Nachricht schreiben',
  newConversation: 'Neu beginnen',
  newInShort: 'Neu',
  account: 'Konto',
  connections: 'Verbindungen',
  switchUser: 'Konto wechseln',
  signInEnded:
    'Ihre Anmeldung ist abgelaufen. Die Unterhaltung bleibt erhalten und geht weiter, wenn Sie wieder angemeldet sind.',
  signInAgain: 'Wieder anmelden',
  otherUser: 'In einem anderen Fenster dieses Browsers hat sich jemand anderes angemeldet.',
  goOnAsThem: 'Mit diesem Konto weitermachen',
  noAgents: (why) => `Welche Agenten es gibt, war nicht zu lesen: ${why}`,
  noConversation:
    'Die Unterhaltung in der Adresse gibt es nicht, oder sie gehört nicht Ihnen. Dies ist eine neue.',
  notTaken: 'Ihre letzten Änderungen enthalten Fehler. Die Fassung davor bleibt aktiv:',
  whatTurnDoes: 'Was gerade geschieht',
  behindTheScenes: 'Hinter den Kulissen',
  openInTemporal: 'In Temporal öffnen',
  seeTerminal: 'Was nicht stimmt, steht in dem Terminal, in dem Interlude läuft.',
  saySomething: 'Schreiben Sie etwas: Hier erscheint, was dann geschieht, mit der Zeit seit dem Beginn.',
  events: 'Ereignisse',
  noToken: (status) => `Kein Token: Der Dienst hat mit ${status} geantwortet.`,
  noTokenForOther: 'Kein Token: Jemand anderes ist angemeldet.',
};
