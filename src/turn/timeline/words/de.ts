/** What timelines say, in German. */
import type { AskedFor, TimelineWords } from './en.ts';

/** After “sollte”. */
function task(what: AskedFor): string {
  const by = what.by ?? 'dem Agenten';
  switch (what.kind) {
    case 'approve':
      return `„${what.tool}“ von ${by} zustimmen`;
    case 'answer':
      return `${by} antworten`;
    case 'open':
      return `eine Seite von ${by} öffnen`;
    case 'connect': {
      const server = what.by ?? 'das Konto';
      return {
        missing: `${server} verbinden`,
        rejected: `${server} neu verbinden (das Konto wurde abgewiesen)`,
        insufficient_scope: `${server} neu verbinden (es braucht mehr Rechte)`,
        revoked: `${server} neu verbinden (der Zugang wurde entzogen)`,
      }[what.reason];
    }
    default:
      return what satisfies never;
  }
}

function ended(how: string, by: string | null, time: string | null): string {
  return `${how}${by === null ? '' : ` von ${by}`}${time === null ? '' : ` nach ${time}`}`;
}

export const timelineDe: TimelineWords = {
  language: 'de',
  started: 'Gesprächsschritt begonnen',
  step: (number) => `Schritt ${number}`,
  modelCalled: (times) => `das Modell wurde ${times}-mal aufgerufen`,
  atOutputLimit: 'an der Grenze der Ausgabe angehalten',
  byContentFilter: 'von einem Inhaltsfilter angehalten',
  attempt: (number) => `${number}. Versuch`,
  delegatedTo: (agent) => `Weitergegeben an ${agent}`,
  needsAccount: (server) => `${server} braucht ein Konto`,
  cannotShowQuestion: 'das Programm kann die Frage nicht zeigen',
  error: 'Fehler',
  cancelledTurn: (actor) => `${actor} hat den Gesprächsschritt abgebrochen`,
  viewedContents: (actor) => `${actor} hat die Inhalte angesehen`,
  tokens: (input, output) => `${input} + ${output} Token`,
  ended: {
    completed: 'Gesprächsschritt fertig',
    failed: 'Gesprächsschritt gescheitert',
    cancelled: 'Gesprächsschritt abgebrochen',
    superseded: 'Gesprächsschritt abgelöst',
  },
  theService: (name) => `den Dienst ${name}`,
  wasAsked: (user, what) => `${user ?? 'Die Person'} sollte ${task(what)}`,
  waitsFor: (user, what) => `Wartet auf ${user}: ${task(what)}`,
  since: (time) => `seit ${time}`,
  left: (time) => `noch ${time}`,
  overdue: 'überfällig',
  waiting: 'wartet',
  waitingFor: (time) => `wartet seit ${time}`,
  hasConsented: 'will die Seite öffnen',
  settled: {
    accept: (by, time) => ended('angenommen', by, time),
    decline: (by, time) => ended('abgelehnt', by, time),
    cancel: (by, time) => ended('ohne Antwort geschlossen', by, time),
    expired: (by, time) => (by === null ? ended('abgelaufen', by, time) : ended('beendet', by, time)),
  },
  endOfCall: (end) => ends[end],
  contents: {
    Message: 'Nachricht',
    Text: 'Text',
    Arguments: 'Angaben',
    Task: 'Aufgabe',
    Result: 'Ergebnis',
    Error: 'Fehler',
    Question: 'Frage',
    'To be approved': 'Zur Zustimmung',
    Answer: 'Antwort',
  },
};

const ends: Record<Parameters<TimelineWords['endOfCall']>[0], string> = {
  ok: 'fertig',
  running: 'läuft',
  tool_error: 'Fehler im Werkzeug',
  decline: 'abgelehnt',
  cancel: 'verworfen',
  expired: 'abgelaufen',
  not_asked: 'nicht gefragt',
  refused: 'abgewiesen',
  not_allowed: 'nicht erlaubt',
  unreachable: 'nicht erreichbar',
  unknown: 'Ausgang unbekannt',
  stopped: 'angehalten',
  failed: 'gescheitert',
};
