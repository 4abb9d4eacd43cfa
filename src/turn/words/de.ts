/** What a person reads, in German. */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords, nameInWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import type { AccountTrouble } from '../account-trouble.ts';
import {
  accountSentences,
  callSentences,
  sayAccountTrouble,
  sayCallFailure,
  sayTrouble,
  sayTurnFailure,
  troubleSentences,
  turnSentences,
} from '../sentences.ts';
import type { ServerTrouble } from '../server-trouble.ts';
import type { TurnFailure } from '../turn-failure.ts';
import type { Words } from './en.ts';

const notRun = 'Das Werkzeug wurde nicht ausgeführt.';
const doneBefore = 'Was vorher getan wurde, bleibt getan.';
const answerFirst = 'Beantworten Sie zuerst Ihre offenen Fragen.';
const service = 'Das geht für einen angemeldeten Menschen, nicht für einen Dienst.';
const toConnect = 'Sie wurden gebeten, Ihr Konto bei {server} zu verbinden,';
const later = '[ Verbinden können Sie es jederzeit unter {address}.]';
const account = 'Dafür wird Ihr Konto bei {server} gebraucht,';
const toApprove = 'Sie wurden um Zustimmung zu diesem Aufruf gebeten';
const approval = 'Dafür wird Ihre Zustimmung gebraucht,';
const toOpen = 'Sie wurden gebeten, eine Seite von {server} zu öffnen, die dieses Werkzeug zuerst braucht,';
const undecided = 'und haben die Frage verworfen, ohne zu entscheiden.';
const unaskable = '{server} wollte etwas wissen, wonach Sie nicht gefragt werden können: {why}.';

const calls = callSentences({
  'account.decline': `${toConnect} und haben abgelehnt. ${notRun}${later}`,
  'account.cancel': `${toConnect} ${undecided} ${notRun} Sie können es später noch einmal versuchen.${later}`,
  'account.expired': `${toConnect} aber die Zeit lief ab, bevor es eine Antwort gab. ${notRun} Sie können noch einmal fragen.${later}`,
  'account.unsupported': ({ address }) =>
    `${account} und Ihr Programm kann die Frage danach nicht zeigen. ${notRun} Verbinden Sie {server} ${address === undefined ? 'in einem Programm, das es kann,' : 'unter {address}'} und versuchen Sie es dann noch einmal.`,
  'account.no-user': `Dafür wird das Konto eines Menschen bei {server} gebraucht. ${notRun} ${service}`,
  'account.too-many-open': `${account} aber Sie haben zu viele offene Fragen. ${notRun} ${answerFirst}`,
  'account.too-many-in-turn': `${account} aber in diesem Gesprächsschritt sind zu viele Fragen offen. ${notRun}`,
  'account.too-many-in-tenant': `${account} aber in Ihrer Organisation sind zu viele Fragen offen. ${notRun} Sie können es später noch einmal versuchen.`,
  'account.still-refused': `Sie haben Ihr Konto bei {server} verbunden, aber {server} weist es noch immer ab. ${notRun} Prüfen Sie, ob das Konto das darf.`,
  shared_account: (failure) => `${sharedAccount(failure)} ${notRun}`,
  'approval.decline': `${toApprove} und haben abgelehnt.[ Ihr Grund: {reason}] {untouched}`,
  'approval.cancel': `${toApprove} ${undecided} {untouched} Sie können es später noch einmal versuchen.`,
  'approval.expired': `${toApprove}, aber die Zeit lief ab, bevor es eine Antwort gab. {untouched} Sie können noch einmal fragen.`,
  'approval.unsupported': `${approval} und Ihr Programm kann die Frage danach nicht zeigen. {untouched} Fragen Sie noch einmal in einem Programm, das Fragen zeigt.`,
  'approval.no-user': `Dafür wird die Zustimmung eines Menschen gebraucht. {untouched} ${service}`,
  'approval.too-many-open': `${approval} aber Sie haben zu viele offene Fragen. {untouched} ${answerFirst}`,
  'approval.too-many-in-turn': `${approval} aber in diesem Gesprächsschritt sind zu viele Fragen offen. {untouched}`,
  'approval.too-many-in-tenant': `${approval} aber in Ihrer Organisation sind zu viele Fragen offen. {untouched} Sie können es später noch einmal versuchen.`,
  approval_too_long: `Dieser Aufruf braucht Ihre Zustimmung, und seine Angaben sind zu lang, um gezeigt zu werden (mehr als ${approvalLimit} Zeichen). {untouched}`,
  not_as_approved: 'Der Aufruf war nicht der, dem Sie zugestimmt haben, und wurde angehalten. {untouched}',
  'form.decline': 'Sie wollten nicht antworten.',
  'form.cancel': 'Sie haben das Formular ohne eine Antwort geschlossen.',
  'form.expired': 'Die Zeit lief ab, bevor Sie geantwortet haben. Sie können noch einmal fragen.',
  'form.unsupported': 'Ihr Programm kann das Formular nicht zeigen.',
  'form.too-many-open': `Sie haben zu viele offene Fragen und wurden deshalb nicht gefragt. ${answerFirst}`,
  'form.too-many-in-turn':
    'In diesem Gesprächsschritt sind zu viele Fragen offen. Sie wurden deshalb nicht gefragt.',
  'form.too-many-in-tenant':
    'In Ihrer Organisation sind zu viele Fragen offen. Sie wurden deshalb nicht gefragt.',
  'form.no-user': 'Aufgerufen hat ein Dienst, den man nicht fragen kann.',
  'form.limit-reached': 'Der Agent hat in diesem Gesprächsschritt so viele Formulare gezeigt, wie er darf.',
  'frontend_tool.decline': 'Sie haben {tool} abgelehnt.',
  'frontend_tool.cancel':
    '{tool} wurde ohne ein Ergebnis geschlossen. Ob die Seite es ausgeführt hat, ist nicht bekannt.',
  'frontend_tool.expired':
    'Die Seite hat das Ergebnis von {tool} nicht rechtzeitig gesendet. Ob sie es ausgeführt hat, ist nicht bekannt. Sie können noch einmal fragen.',
  'frontend_tool.unsupported':
    'Ihr Programm führt keine Werkzeuge einer Seite aus. {tool} wurde nicht ausgeführt.',
  'frontend_tool.no-user': 'Aufgerufen hat ein Dienst, der keine Seite hat. {tool} wurde nicht ausgeführt.',
  'frontend_tool.too-many-open': `Sie haben zu viele offene Fragen. {tool} wurde nicht aufgerufen. ${answerFirst}`,
  'frontend_tool.too-many-in-turn':
    'In diesem Gesprächsschritt sind zu viele Aufrufe und Fragen offen. {tool} wurde nicht aufgerufen.',
  'frontend_tool.too-many-in-tenant':
    'In Ihrer Organisation sind zu viele Fragen offen. {tool} wurde nicht aufgerufen.',
  'too_many_questions.user': `{server} hatte eine Frage, aber Sie haben zu viele offene Fragen. Der Aufruf wurde angehalten. ${doneBefore} ${answerFirst}`,
  'too_many_questions.turn': `{server} hatte eine Frage, aber in diesem Gesprächsschritt sind zu viele offen. Der Aufruf wurde angehalten. ${doneBefore}`,
  'too_many_questions.tenant': `{server} hatte eine Frage, aber in Ihrer Organisation sind zu viele offen. Der Aufruf wurde angehalten. ${doneBefore} Sie können es später noch einmal versuchen.`,
  too_many_held: `{server} hatte eine Frage, aber im Moment werden zu viele Menschen gefragt. Der Aufruf wurde angehalten. ${doneBefore} Versuchen Sie es später noch einmal.`,
  'too_many_rounds.rounds': `{server} hat immer weiter gefragt: Nach {limit} Runden von Antworten wurde der Aufruf angehalten. ${doneBefore}`,
  'too_many_rounds.same-page': `{server} hat Sie {limit}-mal auf dieselbe Seite geschickt. Der Aufruf wurde angehalten. ${doneBefore}`,
  'page_not_opened.decline': `${toOpen} und haben abgelehnt. ${notRun}`,
  'page_not_opened.cancel': `${toOpen} ${undecided} ${notRun} Sie können es später noch einmal versuchen.`,
  'page_not_opened.expired': `${toOpen} aber die Zeit lief vorher ab. ${notRun} Sie können noch einmal fragen.`,
  unaskable: ({ isTask }) =>
    `${unaskable} ${isTask ? 'Die Aufgabe wurde abgebrochen.' : 'Der Aufruf wurde nicht fertig.'}`,
  nobody_to_ask: 'Das Werkzeug hatte eine Frage, die in diesem Aufruf nicht gestellt werden konnte.',
  ended_while_asking: '{server} endete, während Sie gefragt wurden. Der Aufruf wurde nicht fertig.',
  call_ended: 'Der Aufruf ist zu Ende.',
  not_allowed: `Dieser Agent darf {tool} nicht benutzen. ${notRun}`,
  no_server: `Den Server „{server}“ gibt es nicht mehr. ${notRun}`,
  not_called: `{server} konnte wegen eines Fehlers auf unserer Seite nicht aufgerufen werden. ${notRun} Versuchen Sie es gleich noch einmal.`,
  account_unusable: ({ isOperators }) =>
    isOperators
      ? `{trouble} ${notRun} Das müssen die Betreiber dieses Dienstes beheben. Neu verbinden hilft nicht.`
      : `{trouble} ${notRun} Versuchen Sie es später noch einmal.`,
  server_trouble: ({ note }) => (note === undefined ? '{trouble}' : `{trouble} ${notRun}`),
  interrupted: `{trouble} Der Aufruf wurde nicht fertig. ${doneBefore} Nichts wurde doppelt gesendet. Sie können es später noch einmal versuchen.`,
  unknown_outcome: ({ trouble }) =>
    `{server} wurde aufgerufen, ${trouble ? 'und dann: {trouble}' : 'aber die Antwort kam nie an.'} Ob die Aktion stattgefunden hat, ist nicht bekannt. Sie wurde nicht wiederholt. Sehen Sie in {server} nach, bevor Sie es noch einmal versuchen.`,
  tool_lost: `{tool} wurde von den Betreibern dieses Dienstes angehalten und nicht fertig. ${doneBefore} Sehen Sie nach, bevor Sie es noch einmal versuchen.`,
  tool_stuck: `{tool} kam nicht zu einem Ende und wurde angehalten: ein Fehler im Werkzeug. ${doneBefore}`,
  tool_not_run:
    '{tool} konnte wegen eines Fehlers auf unserer Seite nicht ausgeführt werden. Versuchen Sie es gleich noch einmal.',
  no_answer: `{agent} hat die Aufgabe nicht erledigt. {failure} ${doneBefore}`,
  empty_answer: `{agent} hat die Aufgabe ohne eine Antwort beendet. ${doneBefore}`,
  no_tool: 'Ein Werkzeug „{tool}“ gibt es nicht.',
  bad_arguments: `{tool} wurde mit unlesbaren Angaben aufgerufen. ${notRun}`,
  tool_gone: 'Ein Werkzeug „{tool}“ gibt es nicht.',
  form_refused: 'Sie wurden nicht gefragt, weil das Formular des Agenten nicht gezeigt werden kann: {why}',
  no_task: '{tool} wurde ohne eine Aufgabe aufgerufen und deshalb nicht gefragt.',
  'not_handed_on.too-often':
    '{agent} wurde nicht gefragt: Die Aufgabe wurde so oft weitergegeben, wie es erlaubt ist ({limit}).',
  'not_handed_on.too-many':
    '{agent} wurde nicht gefragt: Ein Agent darf nur {limit} Aufgaben auf einmal vergeben.',
  'unfinished.delegated': `Der Gesprächsschritt endete, während ein anderer Agent an der Aufgabe arbeitete. ${doneBefore}`,
  'unfinished.delegated_replaced': `Der Agent hat auf Sie gewartet, und Sie haben eine neue Nachricht geschickt. ${doneBefore}`,
  'unfinished.waiting': `Der Gesprächsschritt endete, während das Werkzeug auf Sie wartete. Es wurde nicht fertig. ${doneBefore}`,
  'unfinished.waiting_replaced': `Das Werkzeug hat auf Sie gewartet, und Sie haben eine neue Nachricht geschickt. Es wurde nicht fertig. ${doneBefore}`,
  'unfinished.started':
    'Der Gesprächsschritt endete, während das Werkzeug lief. Ob die Aktion stattgefunden hat, ist nicht bekannt. Sehen Sie nach, bevor Sie es noch einmal versuchen.',
  'unfinished.not_run': 'Der Gesprächsschritt endete, bevor das Werkzeug laufen konnte.',
  'unfinished.not_run_replaced': `Sie wurden nach etwas gefragt, das dieses Werkzeug braucht, und haben eine neue Nachricht geschickt. ${notRun}`,
});

function sharedAccount(failure: { server: string; reason: ConnectionReason; contact?: string | undefined }) {
  const { server, reason, contact = 'die Betreiber dieses Dienstes' } = failure;
  const trouble: Record<ConnectionReason, string> = {
    missing: 'und es ist nicht verbunden',
    rejected: `und ${server} weist es ab`,
    insufficient_scope: 'und ihm fehlt ein Recht, das hier gebraucht wird',
    revoked: 'und sein Zugang wurde entzogen',
  };
  const task = reason === 'missing' ? 'es zu verbinden' : 'es neu zu verbinden';
  return `${server} wird hier von allen mit einem gemeinsamen Konto benutzt, ${trouble[reason]}. Bitten Sie ${contact}, ${task}.`;
}

const notReached = '{server} ist nicht zu erreichen';
const notStarted = '{server} lässt sich nicht starten';

const troubles = troubleSentences({
  cancelled: 'Der Aufruf von {server} wurde abgebrochen.',
  timeout: '{server} hat nicht innerhalb von {seconds} s geantwortet.',
  task_timeout: '{server} war nicht innerhalb von {seconds} s fertig.',
  task_stopped: '{server} war nicht innerhalb von {seconds} s fertig und wurde angehalten.',
  answer_too_large:
    '{server} hat eine Antwort von mehr als {megabytes} MB geschickt, die nicht zu Ende gelesen wird.',
  connection_ended: '{server} hat die Verbindung vor der Antwort beendet.',
  session_lost:
    '{server} hat die Sitzung der Anfrage verloren (HTTP 404), wie nach einem Neustart. Versuchen Sie es noch einmal.',
  unreadable_message: '{server} hat auf {method} mit einer unlesbaren Nachricht geantwortet.',
  not_mcp: '{server} hat nicht wie ein MCP-Server geantwortet.',
  not_mcp_process: '{server} hat nicht wie ein MCP-Server geantwortet.',
  redirected: '{server} hat eine Weiterleitung geschickt (HTTP {status}), der nicht gefolgt wird.',
  no_endpoint: '{server} hat unter dieser Adresse keinen MCP-Endpunkt (HTTP 404).',
  busy: '{server} bekommt zu viele Anfragen (HTTP 429). Versuchen Sie es später noch einmal.',
  request_refused: '{server} hat die Anfrage abgewiesen (HTTP {status}).',
  failing: '{server} hat eine Störung (HTTP {status}). Versuchen Sie es später noch einmal.',
  task_failing: '{server} hat eine Störung (HTTP {status}).',
  not_listening: `${notReached}: Unter der Adresse antwortet nichts.`,
  unknown_host: `${notReached}: Der Name des Rechners ist nicht bekannt.`,
  connect_timeout: `${notReached}: Die Verbindung wurde nicht rechtzeitig angenommen.`,
  connection_broken: '{server} hat die Verbindung abgebrochen. Versuchen Sie es später noch einmal.',
  certificate: `${notReached}: Das TLS-Zertifikat wurde nicht angenommen ({error}).`,
  not_reached: `${notReached}[ ({error})].`,
  command_not_found: `${notStarted}: Das Programm {command} wurde nicht gefunden.`,
  command_not_executable: `${notStarted}: {command} darf nicht ausgeführt werden.`,
  no_folder: `${notStarted}: Den Ordner {folder} gibt es nicht.`,
  user_not_permitted: `${notStarted}: Der Worker darf keine Programme als Benutzer {uid} starten.`,
  not_started: `${notStarted} ({error}).`,
  process_ended: '{server} ist beendet worden, bevor eine Antwort kam ({how}).',
  header_unsendable:
    '{server} wurde nicht aufgerufen: Der Wert des Headers „{header}“ lässt sich nicht senden.',
  other_era: '{server} spricht nicht MCP {era} (HTTP {status}), wie es die Agentendatei verlangt.',
  era_learned:
    '{server} musste etwas fragen, was in MCP {was} nicht geht. Von nun an wird MCP {now} benutzt: Ein weiterer Aufruf wird fragen.',
  tools_not_listed: '{server} kann seine Werkzeuge nicht auflisten (Fehler {error}).',
  too_many_tools:
    '{server} nennt mehr als {tools} Werkzeuge, 1 MB an Beschreibungen oder {pages} Seiten. So viel wird nicht gelesen.',
  call_refused: '{server} hat den Aufruf abgewiesen: {words}',
  call_failed: '{server} ist bei dem Aufruf gescheitert (Fehler {error}).',
  unreadable_answer: '{server} hat in einer unlesbaren Form geantwortet.',
  call_ended: 'Der Aufruf ist zu Ende.',
  task_refused: '{server} hat die Anfrage abgewiesen: {words}',
  task_unknown: '{server} kennt die Aufgabe nicht mehr.',
  task_cancelled: 'Die Aufgabe von {server} wurde abgebrochen.',
  task_end_unknown: '{server} hat die Aufgabe in einem Zustand beendet, der hier nicht bekannt ist.',
  no_messages: '{server} nimmt unter dieser Adresse keine Nachrichten an (HTTP {status}).',
  no_card: '{server} gibt keine Agentenkarte heraus (HTTP {status}).',
  no_card_content: '{server} schickt etwas anderes als eine Agentenkarte.',
  card_late: '{server} hat die Agentenkarte nicht rechtzeitig geschickt.',
  no_interface: '{server} bietet keinen Weg an, der hier bekannt ist.',
  other_host:
    'Die Agentenkarte von {server} schickt Nachrichten an einen anderen Rechner, an den nichts gesendet wird.',
  execute_timeout: 'Es war nicht innerhalb von {seconds} Sekunden fertig.',
});

const notSetUp =
  'Der Assistent kann nicht antworten, weil etwas falsch eingerichtet ist. Sagen Sie es den Betreibern dieses Dienstes.';
const again = 'Fragen Sie noch einmal, damit es weitergeht.';

const turns = turnSentences({
  MaxStepsReached: ({ isDelegated }) =>
    `Der Agent hat nach {maxSteps} Schritten aufgehört, ohne fertig zu werden.${isDelegated ? '' : ' Bitten Sie ihn, weiterzumachen.'}`,
  UnknownAgent: 'Den Agenten „{agent}“ gibt es nicht mehr. Wählen Sie einen anderen.',
  ModelRateLimited: 'Der Assistent hat gerade zu viel zu tun. Versuchen Sie es gleich noch einmal.',
  ModelUnavailable: 'Der Assistent ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.',
  ModelQuotaExhausted: notSetUp,
  ModelUnauthorized: notSetUp,
  ModelRefusedRequest: notSetUp,
  ModelMisconfigured: notSetUp,
  ModelContextTooLong: 'Diese Unterhaltung ist zu lang für den Assistenten. Beginnen Sie eine neue.',
  ModelContentPolicy:
    'Der Assistent hat wegen seiner Inhaltsregeln nicht geantwortet. Formulieren Sie die Bitte anders.',
  ModelEmptyAnswer: ({ isOutOfRoom }) =>
    isOutOfRoom
      ? 'Dem Assistenten ging der Platz aus, bevor er etwas sagen konnte. Bitten Sie um etwas Kürzeres.'
      : 'Der Assistent hat nichts geantwortet. Fragen Sie noch einmal oder mit anderen Worten.',
  TurnFailed: 'Auf unserer Seite ist etwas schiefgegangen, und die Antwort wurde nicht fertig.',
  TurnLost: `Der Gesprächsschritt ging verloren, bevor die Antwort fertig war. ${again}`,
  TurnTerminated: `Der Gesprächsschritt wurde von außen beendet, bevor die Antwort fertig war. ${again}`,
  TurnTimedOut: `Der Gesprächsschritt hat länger gedauert als erlaubt und wurde beendet. ${again}`,
});

const signIn = 'Der Anmeldeserver von {server}';
const untilAgreed =
  'Solange die Betreiber dieses Dienstes nicht zugestimmt haben, wird niemand dorthin geschickt.';
const operatorsDo = 'Deshalb müssen die Betreiber dieses Dienstes das tun.';
const nango = 'Nango verwahrt die Konten von {server} und';
const inAMoment = 'Versuchen Sie es später noch einmal.';
const settings = 'Die Betreiber müssen die Einstellungen prüfen.';
const withError = (code: string | null) => (code === null ? 'mit einem Fehler' : 'mit „{error}“');

// Why a stored account cannot be opened is for operators, whose logs are in English.
const accountTroubles = accountSentences({
  no_user: '{server} braucht einen angemeldeten Menschen, und es gibt keinen.',
  needs_own_account: '{server} braucht von jedem ein eigenes Konto.',
  has_shared_account: '{server} hat ein Konto für alle, das die Betreiber verbinden.',
  no_account_needed: '{server} verlangt kein Konto mehr. Gehen Sie zurück und versuchen Sie es noch einmal.',
  service_refused: '{server} weist diesen Dienst ab.',
  unreachable: `{server} ist nicht zu erreichen. ${inAMoment}`,
  timeout: `{server} hat nicht rechtzeitig geantwortet. ${inAMoment}`,
  'too-large': `{server} hat zu viele Daten geschickt. ${inAMoment}`,
  redirected: `{server} hat eine Weiterleitung geschickt, der nicht gefolgt wird. ${inAMoment}`,
  forbidden: `{server} hat keine Adresse mit http oder https und ohne Passwort. ${inAMoment}`,
  unreadable_document:
    '{server} verweist auf ein Dokument über die Anmeldung, das sich nicht lesen lässt. Sagen Sie es den Betreibern von {server}.',
  foreign_document:
    '{server} veröffentlicht eine Anmeldung, die zu einer anderen Adresse gehört. Deshalb wird ihr nicht vertraut.',
  settings_changed:
    'Die Einstellungen dieses Servers haben sich inzwischen geändert. Beginnen Sie noch einmal.',
  failing: `{server} hat eine Störung (HTTP {status}). ${inAMoment}`,
  sign_in_unusable: `${signIn} ist nicht zu erreichen oder gibt keine brauchbare Antwort. ${inAMoment}`,
  sign_in_without_https: `${signIn} ist nicht über https zu erreichen und wird deshalb nicht benutzt.`,
  sign_in_renamed: `${signIn} nennt sich anders als erwartet. Deshalb wird ihm nicht vertraut.`,
  sign_in_undescribed: `${signIn} veröffentlicht keine brauchbare Beschreibung. Sagen Sie es den Betreibern von {server}.`,
  sign_in_changed: `{server} hat einen anderen Anmeldeserver als vorher. ${untilAgreed}`,
  sign_in_not_as_written:
    '{server} nennt einen anderen Anmeldeserver, als die Betreiber dieses Dienstes eingetragen haben. Deshalb wird niemand dorthin geschickt.',
  sign_in_of_other: `{server} nennt den Anmeldeserver eines anderen Servers. ${untilAgreed}`,
  no_pkce: `${signIn} bietet PKCE mit S256 nicht an, das hier vorgeschrieben ist.`,
  pushed_requests: `${signIn} verlangt „pushed authorization requests“, die hier nicht möglich sind.`,
  unsafe_address: 'Die Adresse für die Anmeldung beginnt nicht mit https://.',
  request_refused: `${signIn} hat die Anfrage abgewiesen (HTTP {status}).`,
  refused: ({ error }) => `${signIn} hat ${withError(error)} abgelehnt.`,
  answered_error: ({ error }) => `${signIn} hat ${withError(error)} geantwortet.`,
  client_not_accepted: ({ error }) =>
    `${signIn} nimmt diesen Dienst nicht als Client an${error === null ? '' : ' („{error}“)'}. Das müssen die Betreiber dieses Dienstes beheben.`,
  foreign_answer: 'Die Antwort kam nicht vom Anmeldeserver von {server} und wurde deshalb nicht benutzt.',
  incomplete_answer: `${signIn} hat eine unvollständige Antwort geschickt.`,
  no_registration: `Bei {server} kann sich dieser Dienst nicht selbst anmelden. ${operatorsDo}`,
  registration_refused: `${signIn} lehnt es ab, diesen Dienst einzutragen. ${operatorsDo}`,
  registration_away: `${signIn} kann diesen Dienst gerade nicht eintragen. ${inAMoment}`,
  client_removed: 'Der Client für {server} wurde aus den Einstellungen entfernt.',
  client_forgotten: `${signIn} kennt diesen Dienst nicht mehr. Beginnen Sie noch einmal.`,
  account_sealed: 'Das gespeicherte Konto bei {server} lässt sich nicht öffnen.',
  key_sealed: 'Der gespeicherte API-Schlüssel für {server} lässt sich nicht öffnen.',
  account_changing: 'Das Konto bei {server} ändert sich gerade immer wieder. Versuchen Sie es noch einmal.',
  account_locked: `Das Konto bei {server} wird schon zu lange erneuert. ${inAMoment}`,
  nango_away: `${nango} ist gerade nicht zu erreichen.`,
  nango_busy: `${nango} hat gerade zu viel zu tun.`,
  nango_not_renewed: 'Der Zugang zu {server} ließ sich gerade nicht erneuern.',
  nango_misconfigured: `${nango} tut nicht, was es soll. ${settings}`,
  nango_locked: 'Das Konto bei {server} wird gerade bearbeitet. Versuchen Sie es noch einmal.',
  nango_no_token: `Nango gibt für das Konto bei {server} keinen Token heraus. ${settings}`,
  nango_sealed: 'Das gespeicherte Konto bei {server} lässt sich nicht öffnen.',
});

const accountTrouble = (trouble: AccountTrouble): string => sayAccountTrouble(accountTroubles, trouble);

const turnFailure = (failure: TurnFailure): string => sayTurnFailure(turns, failure);

const parts = {
  sentences: calls,
  untouched: 'An {server} wurde nichts gesendet.',
  notRun,
  stopped: 'Der Agent wurde angehalten.',
  trouble: (trouble: ServerTrouble) => sayTrouble(troubles, trouble),
  accountTrouble,
  turnFailure,
};

export const de: Words = {
  callFailure: (failure) => sayCallFailure(parts, failure),
  accountTrouble,
  turnFailure,
  /** The words of servers, tools and agents stay as they are. */
  question({ message, context }) {
    const { trigger, agent, server, serverTitle = server, reason = 'missing', toolName } = context;
    if (trigger === 'approval' && agent !== undefined && toolName !== undefined) {
      const where = serverTitle === undefined ? '' : ` in ${serverTitle}`;
      return `${agent} möchte „${nameInWords(toolName)}“${where} ausführen. Stimmen Sie zu?`;
    }
    if (trigger === 'frontend_tool' && agent !== undefined && toolName !== undefined)
      return `${agent} wartet darauf, dass die Seite „${nameInWords(toolName)}“ ausführt. Wenn sie nicht mehr offen ist, lehnen Sie das ab.`;
    if (trigger !== 'credential_required' || serverTitle === undefined) return message;
    const aim = toolName === undefined ? '' : ` für „${inWords(toolName)}“`;
    const texts: Record<ConnectionReason, string> = {
      missing: `${serverTitle} braucht Ihren Zugang${aim}.`,
      rejected: `${serverTitle} nimmt Ihren Zugang nicht mehr an. Richten Sie ihn${aim} neu ein.`,
      insufficient_scope: `${serverTitle} braucht${aim} mehr Rechte, als Sie bisher gewährt haben.`,
      revoked: `Ihr Zugang zu ${serverTitle} wurde widerrufen. Richten Sie ihn${aim} neu ein.`,
    };
    return texts[reason];
  },
  keyProblem,
  missingAccount({ serverTitle, account: missing, url }) {
    if (missing.code === 'shared_account') return sharedAccount({ ...missing, server: serverTitle });
    const aim = missing.tool === undefined ? '' : ` für „${inWords(missing.tool)}“`;
    const what = missing.by === 'key' ? 'einen API-Schlüssel von Ihnen' : 'Ihr Konto';
    return elsewhere(`${serverTitle} braucht${aim} ${what}.`, false, url);
  },
  elsewhere,
};

function elsewhere(asked: string, isAsked: boolean, address: string | undefined): string {
  const remedy = isAsked
    ? 'Öffnen Sie diese Unterhaltung in einem, das es kann'
    : 'Fragen Sie noch einmal in einem, das es kann';
  const next = isAsked ? 'damit es hier weitergeht' : 'und fragen Sie hier noch einmal';
  const here = address === undefined ? '' : `, oder stellen Sie die Verbindung unter ${address} her, ${next}`;
  return `${asked} Ihr Programm kann den Link dafür nicht zeigen. ${remedy}${here}.`;
}

function keyProblem(server: string, problem: KeyProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'Geben Sie den Schlüssel ein.';
    case 'too-long':
      return `Das ist zu lang für einen Schlüssel: Es sind ${problem.length} Zeichen, höchstens ${problem.most} sind möglich.`;
    case 'space':
      return 'In diesem Schlüssel ist ein Leerzeichen oder ein Zeilenumbruch. Geben Sie nur den Schlüssel ein, ohne ein Wort wie „Bearer“ davor.';
    case 'character':
      return 'In diesem Schlüssel ist ein Zeichen, das Schlüssel nicht haben. Kopieren Sie ihn noch einmal, ohne etwas davor oder danach.';
    case 'refused':
      return `${server} nimmt diesen Schlüssel nicht an. Prüfen Sie, ob er vollständig ist und dort noch gilt.`;
    case 'unclear':
      return `${server} hat auf diesen Schlüssel keine brauchbare Antwort gegeben. Prüfen Sie, ob er vollständig ist und dort noch gilt. Wenn ja, wenden Sie sich an die Betreiber dieses Dienstes.`;
    case 'not-tried':
      return `Der Schlüssel konnte bei ${server} gerade nicht ausprobiert werden und wurde nicht gespeichert. Versuchen Sie es gleich noch einmal.`;
    default:
      return problem satisfies never;
  }
}
