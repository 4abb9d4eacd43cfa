/** What the hosted pages say, in German. */
import { de as shared } from '@interlude-ai/core/elicitation/words/de.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { operatorsDe } from '../operators/words/de.ts';
import { timelineDe } from '../../../turn/timeline/words/de.ts';
import { de as ofTurn } from '../../../turn/words/de.ts';
import type { PageWords } from './en.ts';

function strong(shown: string): Html {
  return html`<strong>${shown}</strong>`;
}

const tryAgainSoon = 'Versuchen Sie es gleich noch einmal.';
const canClose = 'Sie können dieses Fenster schließen und dorthin zurückkehren, wo Sie gefragt wurden.';

export const de: PageWords = {
  language: 'de',
  ...shared,
  ownQuestion: ofTurn.question,
  keyProblem: ofTurn.keyProblem,
  timeline: timelineDe,

  backTo: (host) => `Zurück zu ${host}`,
  signedInAs: (person) => `Angemeldet als ${person}.`,
  notYou: 'Nicht Sie?',
  signIn: 'Anmelden',
  signInAsOther: 'Mit einem anderen Konto anmelden',
  goToStart: 'Zur Startseite',
  continue: 'Weiter',
  yourConnections: 'Ihre Verbindungen',
  askedByLabel: 'Anfrage von',
  server: 'Server',
  tool: 'Werkzeug',
  permissions: 'Rechte',
  newPermissions: 'Neue Rechte',
  anAgent: 'Ein Agent',
  serverShowsPermissions: (server) => `${server} zeigt sie, bevor Sie zustimmen`,
  askWhom: (contact) => `Fragen Sie ${contact ?? 'die Betreiber dieses Dienstes'}.`,
  goingTo: (where) => `Weiter zu ${where}`,
  takingYouTo: (where) => `Es geht weiter zu ${where}`,
  signInThere: (host) => html`Sie melden sich bei ${strong(host)} an und kommen hierher zurück.`,
  byWayOf: (host, isForQuestion) =>
    html`Der Weg führt über ${strong(host)}. Wenn dort steht, dass Sie fertig sind, schließen Sie die Seite:
    ${isForQuestion ? 'Ihre Unterhaltung geht von selbst weiter' : 'Öffnen Sie dann Ihre Verbindungen noch einmal'}.`,

  door: {
    lead: 'Sprechen Sie mit einem Agenten, der anhalten, Sie fragen und dann weitermachen kann.',
    steps: [
      'Sie wünschen sich etwas',
      'Der Agent hält an und fragt Sie',
      'Sie antworten, und er macht weiter',
    ],
    wish: 'Liste meine offenen Aufgaben in Tracker.',
    question: 'Tracker braucht Ihren Zugang, bevor seine Werkzeuge benutzt werden können.',
    answer: 'Sie haben 3 offene Aufgaben in Tracker.',
    waits: 'Er wartet minutenlang und über einen Neustart hinweg. Kein Aufruf geschieht zweimal.',
  },
  home: {
    lead: 'Dieser Dienst führt Agenten aus und fragt Sie, wo Sie gebraucht werden. Sie sprechen mit ihnen in einer App, einem Chat oder einem Editor.',
    connections: 'Ihre Verbindungen und Fragen',
    api: 'Die API, für Programme',
  },

  notices: {
    unknown: [
      'Hier wird nichts gefragt',
      'Der Link ist vielleicht unvollständig. Öffnen Sie ihn noch einmal aus Ihrer Unterhaltung.',
    ],
    nothingHere: ['Hier gibt es nichts', 'Prüfen Sie die Adresse.'],
    incompleteForm: [
      'Es wurde nichts geändert',
      'Das Formular ist unvollständig. Öffnen Sie die Seite noch einmal.',
    ],
    signedOutMeanwhile: [
      'Sie sind nicht mehr angemeldet',
      'Es wurde nichts geändert. Melden Sie sich an und entscheiden Sie noch einmal.',
    ],
    foreignForm: [
      'Es wurde nichts geändert',
      'Dieses Formular kam nicht von unserer Seite, oder Sie haben sich inzwischen neu angemeldet. Öffnen Sie die Seite noch einmal und entscheiden Sie dort.',
    ],
    wayBackNotAllowed: [
      'Dieser Link führt an einen Ort zurück, der nicht erlaubt ist',
      'Es wurde nichts geändert. Öffnen Sie den Link aus Ihrer Unterhaltung, oder sagen Sie es der Person, von der Sie ihn haben.',
    ],
    otherBrowser: [
      'Das lässt sich hier nicht abschließen',
      'Das Verbinden wurde in einem anderen Browser oder vor zu langer Zeit begonnen. Es wurde nichts verbunden. Beginnen Sie noch einmal dort, woher Sie kamen.',
    ],
    otherPersonConnects: [
      'Das lässt sich hier nicht abschließen',
      'Eine andere Person hat das Verbinden begonnen, oder es ist zu lange her. Es wurde nichts verbunden. Beginnen Sie noch einmal dort, woher Sie kamen.',
    ],
    notYoursToConnect: [
      'Dieses Konto können Sie nicht verbinden',
      'Alle benutzen es gemeinsam, und nur Betreiber verbinden es. Es wurde nichts verbunden.',
    ],
    notYourConnection: ['Es wurde nichts geändert', 'Sie haben keine solche Verbindung.'],
    signInAway: [
      'Die Anmeldung ist gerade nicht möglich',
      `Der Anmeldedienst antwortet nicht. ${tryAgainSoon}`,
    ],
    signInElsewhere: [
      'Diese Anmeldung lässt sich hier nicht abschließen',
      'Sie wurde in einem anderen Browser oder vor zu langer Zeit begonnen. Öffnen Sie die Seite, von der Sie kamen, noch einmal.',
    ],
    signInNotCompleted: ['Sie sind nicht angemeldet', 'Die Anmeldung wurde nicht abgeschlossen.'],
    signInFailed: [
      'Die Anmeldung hat nicht geklappt',
      'Der Anmeldedienst hat eine unbrauchbare Antwort gegeben. Versuchen Sie es noch einmal.',
    ],
    saidNotNow: [
      'Sie haben „Nicht jetzt“ gewählt',
      'Diese Frage ist beantwortet. Wenn Sie doch verbinden möchten, fragen Sie noch einmal in Ihrer Unterhaltung.',
    ],
    closed: [
      'Diese Frage ist geschlossen',
      'Sie wird nicht mehr gebraucht. Wenn etwas fehlt, fragen Sie noch einmal in Ihrer Unterhaltung.',
    ],
    expired: [
      'Diese Frage ist abgelaufen',
      'Sie hat zu lange auf eine Antwort gewartet. Fragen Sie noch einmal in Ihrer Unterhaltung, um einen neuen Link zu bekommen.',
    ],
    operatorsOnly: ['Nur für Betreiber', 'Ihr Konto hat die Rolle dafür nicht.'],
    noSuchTurn: ['Diesen Gesprächsschritt gibt es nicht', 'In Ihrem Mandanten hat keiner diese Kennung.'],
    noSuchQuestion: ['Diese Frage gibt es nicht', 'In Ihrem Mandanten hat keine diese Kennung.'],
    noContents: [
      'Sie dürfen keine Inhalte sehen',
      'Dafür ist eine eigene Rolle nötig, die Ihr Konto nicht hat.',
    ],
    slackLinkSpent: [
      'Dieser Link gilt nicht mehr',
      'Er wurde benutzt, durch einen neueren ersetzt oder ist zu alt. Schreiben Sie dem Agenten in Slack, dann schickt er Ihnen einen neuen.',
    ],
    otherInSlack: [
      'In Slack sind Sie jemand anderes',
      'Es wurde nichts geändert. Der Link ist für ein anderes Slack-Konto als das, mit dem Sie hier angemeldet sind.',
    ],
    slackRefusesClient: [
      'Slack nimmt diese App nicht an',
      'Ein Betreiber muss ihre Einstellungen berichtigen. Hier wurde nichts gespeichert; versuchen Sie es danach noch einmal.',
    ],
    slackAway: ['Slack hat nicht wie erwartet geantwortet', `Hier wurde nichts gespeichert. ${tryAgainSoon}`],
    installElsewhere: [
      'Das lässt sich hier nicht abschließen',
      'Es wurde in einem anderen Browser begonnen, schon benutzt oder ist zu alt. Beginnen Sie noch einmal.',
    ],
    installRefused: ['Es wurde nichts hinzugefügt', 'Slack meldet, dass Sie es nicht erlaubt haben.'],
    workspaceTaken: [
      'Dieser Arbeitsbereich ist vergeben',
      'Eine andere Organisation hat den Agenten schon hinzugefügt.',
    ],
    notOneWorkspace: [
      'Wählen Sie einen Arbeitsbereich',
      'Der Agent wird jedem Arbeitsbereich einzeln hinzugefügt, nicht einer ganzen Organisation.',
    ],
  },

  problems: {
    invalid_request: [
      'Das ist nicht zu verstehen',
      'Die Adresse oder das Formular ist unvollständig. Gehen Sie zurück und versuchen Sie es noch einmal.',
    ],
    not_found: ['Diese Seite gibt es nicht', 'Die Adresse ist vielleicht falsch geschrieben oder veraltet.'],
    rate_limited: ['Zu viele Versuche', 'Warten Sie eine Minute und öffnen Sie die Seite dann noch einmal.'],
    body_too_large: ['Das ist zu viel', 'Es wurde nichts geändert. Gehen Sie zurück und senden Sie weniger.'],
    unavailable: [
      'Gerade nicht erreichbar',
      `${tryAgainSoon} Was Sie gesendet haben, ist vielleicht trotzdem angekommen: Die Seite, von der Sie kamen, zeigt es.`,
    ],
    unknown_host: [
      'Das ist nicht die Adresse dieser Seite',
      'Öffnen Sie die Seite unter der Adresse, die Sie bekommen haben.',
    ],
    unsupported_media_type: [
      'Dieses Formular ist nicht zu verstehen',
      'Öffnen Sie die Seite, von der Sie kamen, noch einmal.',
    ],
  },
  otherProblem: ['Etwas ist schiefgegangen', tryAgainSoon],

  question: {
    asksForApproval: (agent) => `${agent} bittet um Ihre Zustimmung`,
    asksYou: (asker) => `${asker} fragt Sie`,
    asksToOpenPage: (asker) => `${asker} bittet Sie, eine Seite zu öffnen`,
    timeLeft: 'Restzeit',
    lessThanAMinute: 'Weniger als eine Minute',
    until: (time) => html`bis ${time}`,
    notAnsweredYet: (heading) => `Noch nicht beantwortet: ${heading}`,
    forSomebodyElse: 'Diese Frage ist für jemand anderen',
    onlyTheAsked: (person) =>
      html`Sie sind als ${strong(person)} angemeldet. Nur die gefragte Person kann antworten.`,
    approvedNow: ['Zugestimmt', `Der Agent führt diesen Aufruf jetzt aus. ${canClose}`],
    approvedBefore: ['Zugestimmt', `Sie haben diesem Aufruf schon zugestimmt. ${canClose}`],
    answeredNow: ['Beantwortet', `Der Agent macht mit Ihrer Antwort weiter. ${canClose}`],
    answeredBefore: ['Beantwortet', `Sie haben schon geantwortet. ${canClose}`],
    openedNow: ['Erledigt', `Der Agent macht weiter. ${canClose}`],
    openedBefore: ['Erledigt', `Das ist schon entschieden. ${canClose}`],
    declined: 'Abgelehnt',
    notNow: 'Nicht jetzt',
    declinedNow: `Der Agent macht ohne das weiter. ${canClose}`,
    declinedBefore: `Sie haben das schon entschieden. ${canClose}`,
    whenDoneThere: 'Wenn Sie dort fertig sind, macht der Agent von selbst weiter.',
    openYourself: (host) => `Öffnen Sie ${host} selbst`,
    notEncrypted:
      'Die Adresse ist nicht verschlüsselt und wird deshalb nicht von hier aus geöffnet. Kopieren Sie sie, wenn Sie ihr vertrauen:',
    misfit: 'Die Antwort passt nicht zur Frage. Bitte prüfen Sie sie.',
  },

  account: {
    connectAgain: (server) => `${server} neu verbinden`,
    notConnected: (server) => `${server} ist nicht verbunden`,
    notGiven: (server) =>
      `Der Zugang wurde bei ${server} nicht gewährt. Sie können es noch einmal versuchen oder ohne ihn weitermachen.`,
    failed: (server) => `${server} ließ sich nicht verbinden`,
    trouble: ofTurn.accountTrouble,
    inAddition: 'Zusätzlich zu dem, was Sie schon erlaubt haben',
    becomesShared: (server, tenant) =>
      `Dieses Konto gilt dann für alle in ${tenant}: Agenten benutzen ${server} damit für jeden dort. Verbinden Sie eines, das für alle gedacht ist, nicht Ihr eigenes.`,
    isShared: (server) => `${server} wird gemeinsam benutzt`,
    onlyAnOperator: (server, tenant) =>
      `Alle in ${tenant} benutzen ${server} mit einem gemeinsamen Konto, und nur Betreiber verbinden es.`,
    youMay: 'Sie können das hier tun.',
    connectedAs: (account) => html`Verbunden als ${strong(account)}.`,
    askAgain:
      'Die Frage war inzwischen abgelaufen: Fragen Sie noch einmal in Ihrer Unterhaltung, dann klappt es sofort.',
    goesOn: 'Ihre Unterhaltung geht weiter. Sie können dieses Fenster schließen.',
    staysUnconnected: (server) => `${server} bleibt getrennt`,
    notNow: 'Nicht jetzt',
    dismissed: 'Die Frage ist verworfen',
    declined: (server, connections) =>
      html`${server} wurde nicht verbunden, und die Unterhaltung geht ohne weiter. Sie können dieses Fenster
      schließen oder das Konto später unter ${connections} verbinden.`,
    cancelled: (server, connections) =>
      html`${server} wurde nicht verbunden. Fragen Sie noch einmal in Ihrer Unterhaltung, wenn es Ihnen passt.
      Sie können dieses Fenster schließen oder das Konto später unter ${connections} verbinden.`,
    amongConnections: '„Ihre Verbindungen“',
    signedOut: 'Abgemeldet',
    youAreSignedOut: 'Sie sind abgemeldet',
    signInToAnswer: 'Melden Sie sich als die gefragte Person an, um die Frage zu beantworten.',
    signInToSeeConnections: 'Melden Sie sich wieder an, um Ihre Verbindungen zu sehen.',
  },

  key: {
    label: (server) => `Ihr API-Schlüssel für ${server}`,
    use: (host) => `Er wird verschlüsselt gespeichert und nur an ${host} gesendet.`,
    thoseOfYourKey: 'Die Ihres Schlüssels',
    mustHaveThem: 'Ihr Schlüssel muss sie haben',
    notConnectedYet: (heading) => `Noch nicht verbunden: ${heading}`,
    replaceYours: (server) => `Ihren Schlüssel für ${server} ersetzen`,
    replaceShared: (server) => `Den gemeinsamen Schlüssel für ${server} ersetzen`,
    usesYours: (server) => `Agenten benutzen ${server} mit einem API-Schlüssel von Ihnen.`,
    usesShared: (server) => `Agenten benutzen ${server} mit einem API-Schlüssel.`,
    takesThePlace: 'Der neue Schlüssel ersetzt den bisherigen, der hier gelöscht wird.',
    replace: 'Schlüssel ersetzen',
    now: 'Bisher',
  },

  settings: {
    nav: { label: 'Ihre Seiten', waiting: 'Wartet auf Sie', accounts: 'Konten', history: 'Beantwortet' },
    nothing: 'Hier wird kein Konto von Ihnen gebraucht.',
    lead: 'Konten, die Agenten benutzen dürfen.',
    connected: (server) => `${server} ist verbunden. Unterhaltungen, die darauf warteten, gehen weiter.`,
    connectedAs: (server, account) =>
      html`${server} ist als ${strong(account)} verbunden. Unterhaltungen, die darauf warteten, gehen weiter.`,
    apiKey: 'API-Schlüssel',
    notInUse: 'Unbenutzt',
    isConnected: 'Verbunden',
    notWorking: 'Gestört',
    isNotConnected: 'Nicht verbunden',
    sharedByYou: 'Ein gemeinsames Konto für Ihre ganze Organisation. Sie verwalten es.',
    sharedByOperators: 'Ein gemeinsames Konto für Ihre ganze Organisation. Betreiber verwalten es.',
    broken: {
      rejectedKey: (server) => `${server} nimmt diesen Schlüssel nicht mehr an.`,
      rejected: (server) => `${server} nimmt diesen Zugang nicht mehr an.`,
      insufficient_scope: (server) => `Es fehlt ein Recht, das ${server} verlangt.`,
      revoked: (server) => `Der Zugang wurde bei ${server} entzogen oder ist abgelaufen.`,
      usedWithKey: (server) => `${server} wird jetzt mit einem API-Schlüssel benutzt.`,
      server_changed: (server) => `${server} hat seit dem Verbinden eine andere Adresse bekommen.`,
      unused: () => 'Kein Agent benutzt diesen Server mehr. Trennen Sie ihn, dann wird sein Zugang gelöscht.',
      unreadableKey: () => 'Womit er verschlüsselt ist, fehlt. Deshalb kann er nicht benutzt werden.',
      unreadable: () =>
        'Der Zugang ist mit einem Schlüssel gesichert, der fehlt. Deshalb kann er nicht benutzt werden.',
      client_refused: (server) =>
        `Die Anmeldung von ${server} nimmt diesen Dienst im Moment nicht an. Das müssen die Betreiber beheben; Sie brauchen nicht neu zu verbinden.`,
    },
    connectedAsLabel: 'Konto',
    since: 'Seit',
    connect: 'Verbinden',
    reconnect: 'Neu verbinden',
    disconnect: 'Trennen',
    waitingForYou: 'Wartet auf Sie',
    waitingLead: 'Agenten warten auf diese Antworten und machen weiter, sobald sie da sind.',
    nothingWaits: 'Nichts. Wenn ein Agent Sie braucht, steht seine Frage auch hier.',
    history: 'Was Sie beantwortet haben',
    historyLead: 'Ihre letzten Antworten und was daraus geworden ist.',
    nothingAnswered: 'Sie haben noch nichts beantwortet.',
    ends: {
      running: 'Läuft',
      ok: 'Erledigt',
      tool_error: 'Hat nicht geklappt',
      decline: 'Nicht ausgeführt',
      cancel: 'Nicht ausgeführt',
      expired: 'Nicht ausgeführt',
      not_asked: 'Nicht ausgeführt',
      refused: 'Konto abgelehnt',
      not_allowed: 'Nicht erlaubt',
      unreachable: 'Nicht erreicht',
      unknown: 'Ausgang unbekannt',
      stopped: 'Abgebrochen, Ausgang unbekannt',
      failed: 'Hat nicht geklappt',
    },
    waitsUntil: (asker, time) => html`${asker} wartet bis ${time}`,
    answer: 'Antworten',
    approvals: 'Im Voraus zugestimmt',
    approvalsLead: 'Agenten rufen diese Werkzeuge auf, ohne Sie zu fragen.',
    toolOfAgent: 'Werkzeug dieses Agenten',
    inAllConversations: (day) => html`In allen Unterhaltungen, seit ${day}`,
    inOneConversation: (day) => html`In einer Unterhaltung, seit ${day}`,
    askMeAgain: 'Wieder fragen',
    before: (tool, server) => `vor ${tool} in ${server}`,
    slack: 'In Slack',
    slackLead: 'Was dort an den Agenten geschrieben wird, geschieht in Ihrem Namen.',
    slackUserSince: (slackUser, day) => html`${slackUser}, seit ${day}`,
    workspaceInSlack: (workspace) => `${workspace} in Slack`,
  },

  connection: {
    disconnectWhich: (server) => `${server} trennen?`,
    disconnect: (server) => `${server} trennen`,
    willNotUse: (account, { isKey, isShared }) => {
      const possessive = isShared ? 'den gemeinsamen' : 'Ihren';
      const key =
        account === null ? html`diesen Schlüssel` : html`${possessive} Schlüssel ${strong(account)}`;
      const other =
        account === null
          ? html`dieses Konto`
          : html`${isShared ? 'das gemeinsame' : 'Ihr'} Konto ${strong(account)}`;
      return html`Agenten können ${isKey ? key : other} dann nicht mehr benutzen. Was gerade läuft, wird
      vielleicht noch fertig.`;
    },
    sharedAfterwards: 'Wer es braucht, liest dann, an wen man sich wenden kann.',
    ownAfterwards: 'Wenn ein Agent es wieder braucht, werden Sie gefragt.',
    keep: 'Behalten',
    disconnected: (server) => `${server} ist getrennt`,
    wasBefore: 'Die Verbindung war schon getrennt.',
    keyForgotten: (server) =>
      `Ihr Schlüssel ist hier gelöscht. Bei ${server} gilt er noch: Löschen Sie ihn dort, wenn ihn nichts anderes braucht.`,
    endedThere: (server) => `Der Zugang ist hier gelöscht und bei ${server} beendet.`,
    notEndedThere: (server) =>
      `Der Zugang ist hier gelöscht, aber ${server} war nicht zu erreichen. Entfernen Sie Interlude zur Sicherheit auch dort in den Einstellungen Ihres Kontos.`,
    cannotEndThere: (server) =>
      `Der Zugang ist hier gelöscht. ${server} lässt sich das nicht mitteilen. Entfernen Sie Interlude zur Sicherheit auch dort in den Einstellungen Ihres Kontos.`,
    wasNotConnected: (server) => `${server} wurde nicht verbunden`,
    notGiven: (server) => `Der Zugang wurde bei ${server} nicht gewährt. Es wurde nichts geändert.`,
    mayUse: 'Agenten, mit denen Sie sprechen, dürfen Ihr Konto dort benutzen, bis Sie es trennen.',
    untilNow: 'Bisher',
    connectedAs: (account) => html`verbunden als ${strong(account)}`,
  },

  otherWindow: {
    failed: 'Unterwegs ist etwas schiefgegangen. Sie können es noch einmal versuchen.',
    heading: 'Weiter im anderen Fenster',
    lead: (server) =>
      `Melden Sie sich dort bei ${server} an und stimmen Sie zu. Diese Seite merkt von selbst, wenn Sie fertig sind.`,
    noWindow: 'Kein anderes Fenster?',
    here: 'Hier weitermachen',
  },

  operators: operatorsDe,

  slack: {
    connect: 'Slack verbinden',
    isThisYou: 'Sind Sie das in Slack?',
    lead: (slackName, workspace, person) =>
      html`Was ${strong(slackName)} in ${strong(workspace)} an den Agenten schreibt, geschieht als
      ${strong(person)}, mit den Konten, die Sie hier verbinden.`,
    inSlack: 'In Slack',
    workspace: 'Bereich',
    actsAs: 'Handelt als',
    slackConfirms: 'Als Nächstes bestätigt Slack, ob Sie das sind.',
    onlyIfYou:
      'Machen Sie nur weiter, wenn Sie das sind und selbst in Slack darum gebeten haben. Wenn Ihnen jemand den Link geschickt hat, schließen Sie diese Seite.',
    continueWithSlack: 'Weiter mit Slack',
    thisIsMe: 'Ja, das bin ich',
    saysWhoYouAre: 'Slack teilt mit, wer Sie dort sind, und sonst nichts.',
    connected: 'Slack ist verbunden',
    actsAsYou: (slackName, workspace) =>
      `${slackName} in ${workspace} handelt jetzt in Ihrem Namen. Was Sie dort gefragt haben, geht weiter. Sie können dieses Fenster schließen.`,
    foreignWorkspace: (workspace) => [
      'Dieser Arbeitsbereich gehört nicht zu Ihrer Organisation',
      `Es wurde nichts geändert. ${workspace} gehört zu einer anderen Organisation als das Konto, mit dem Sie angemeldet sind.`,
    ],
    add: 'Zu Slack hinzufügen',
    addToWorkspace: 'Den Agenten zu einem Arbeitsbereich hinzufügen',
    addLead: (tenant) =>
      html`Die Menschen dort handeln hier als Mitglieder von ${strong(tenant)}, jeder für sich.`,
    chooseThere: 'Dort wählen Sie den Arbeitsbereich.',
    onlyOperators: 'Nur Betreiber fügen den Agenten zu Slack hinzu',
    askAnOperator: (person) =>
      html`Sie sind als ${strong(person)} angemeldet. Wenden Sie sich an die Betreiber des Dienstes.`,
    added: 'Zu Slack hinzugefügt',
    addedTo: (workspace) => `Zu ${workspace} hinzugefügt`,
    invite: 'Laden Sie den Agenten in einen Kanal ein und erwähnen Sie ihn, oder schreiben Sie ihm direkt.',
  },
};
