/** What the demo's identity provider says, in German. */
import type { DemoWords } from './en.ts';

export const de: DemoWords = {
  language: 'de',
  signIn: 'Anmelden',
  whoAreYou: 'Wer sind Sie?',
  signInToInterlude: 'Melden Sie sich bei Interlude an.',
  continueAs: (name) => `Weiter als ${name}`,
  letProgramAct: 'Darf ein Programm für Sie handeln?',
  asksToAct: (program) =>
    `${program} möchte in Interlude für Sie handeln. Wenn Sie es nicht gestartet haben, lehnen Sie ab.`,
  programHere: (address) => `Das Programm interlude auf diesem Rechner, unter ${address},`,
  programOfCode: 'Das Programm, dessen Code Sie eingegeben haben,',
  deny: 'Ablehnen',
  noPassword:
    'Dies ist der Anmeldedienst der Demo. Er fragt nach keinem Passwort und ist nur auf diesem Rechner erreichbar.',
  startAgain: 'Neu beginnen',
  notOpen: 'Diese Anmeldung ist nicht mehr offen',
  goBack: 'Gehen Sie dorthin zurück, woher Sie kamen, und beginnen Sie neu.',
  continue: 'Weiter',
  signInProgram: 'Programm anmelden',
  denied: 'Abgelehnt: Das Programm handelt nicht für Sie. Sie können diese Seite schließen.',
  unknownCode: 'Dieser Code ist nicht bekannt. Geben Sie ihn noch einmal ein.',
  enterCode: 'Geben Sie den Code ein, den das Programm zeigt.',
  programAt: (program, address) => `${program}, unter ${address},`,
  showsCode: (program, code) =>
    `${program} möchte für Sie handeln. Zeigt es ${code}? Wenn Sie es nicht gestartet haben, lehnen Sie ab.`,
  signedIn: 'Sie sind angemeldet',
  closeThis: 'Sie können diese Seite schließen und zum Programm zurückkehren.',
};
