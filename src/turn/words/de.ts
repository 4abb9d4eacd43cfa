/** What a person reads, in German. */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import type { ConnectionReason, ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inWords, nameInWords } from '@interlude-ai/core/elicitation/wording.ts';
import { isWaiting } from '../call-failure.ts';
import type { CallFailure } from '../call-failure.ts';
import { serverTrouble } from './de-server-trouble.ts';
import type { CodedFailure, TurnFailure } from '../turn-failure.ts';
import type { Notice, Words } from './en.ts';

type Of<Code extends CallFailure['code']> = Extract<CallFailure, { code: Code }>;

const notRun = 'Das Werkzeug wurde nicht ausgeführt.';
const doneBefore = 'Was vorher getan wurde, bleibt getan.';
const answerFirst = 'Beantworte zuerst deine offenen Fragen.';
const service = 'Das geht für einen angemeldeten Menschen, nicht für einen Dienst.';

export const de: Words = {
  callFailure,
  turnFailure,
  question,
  missingAccount,
  elsewhere,
};

/** The words of servers, tools and agents stay as they are. */
function question({ message, context }: ElicitationEvent): string {
  const { trigger, agent, server, serverTitle = server, reason = 'missing', toolName } = context;
  if (trigger === 'approval' && agent !== undefined && toolName !== undefined) {
    const where = serverTitle === undefined ? '' : ` in ${serverTitle}`;
    return `${agent} möchte „${nameInWords(toolName)}“${where} ausführen. Stimmst du zu?`;
  }
  if (trigger !== 'credential_required' || serverTitle === undefined) return message;
  const aim = toolName === undefined ? '' : ` für „${inWords(toolName)}“`;
  const texts: Record<ConnectionReason, string> = {
    missing: `${serverTitle} braucht deinen Zugang${aim}.`,
    rejected: `${serverTitle} nimmt deinen Zugang nicht mehr an. Richte ihn${aim} neu ein.`,
    insufficient_scope: `${serverTitle} braucht${aim} mehr Berechtigungen, als du bisher gegeben hast.`,
    revoked: `Dein Zugang zu ${serverTitle} wurde widerrufen. Richte ihn${aim} neu ein.`,
  };
  return texts[reason];
}

function missingAccount({ serverTitle, account: missing, url }: Notice): string {
  if (missing.code === 'shared_account') return sharedAccount({ ...missing, server: serverTitle });
  const aim = missing.tool === undefined ? '' : ` für „${inWords(missing.tool)}“`;
  const what = missing.by === 'key' ? 'einen API-Schlüssel von dir' : 'dein Konto';
  return elsewhere(`${serverTitle} braucht${aim} ${what}.`, false, url);
}

function elsewhere(asked: string, isAsked: boolean, address: string | undefined): string {
  const remedy = isAsked
    ? 'Öffne diese Unterhaltung in einem, das es kann'
    : 'Frag noch einmal in einem, das es kann';
  const next = isAsked ? 'damit es hier weitergeht' : 'und frag hier noch einmal';
  const here = address === undefined ? '' : `, oder verbinde es unter ${address}, ${next}`;
  return `${asked} Dein Programm kann den Link dafür nicht zeigen. ${remedy}${here}.`;
}

function callFailure(failure: CallFailure): string {
  switch (failure.code) {
    case 'account':
      return account(failure);
    case 'shared_account':
      return `${sharedAccount(failure)} ${notRun}`;
    case 'approval':
      return approval(failure);
    case 'approval_too_long':
      return `Dieser Aufruf braucht deine Zustimmung, und seine Angaben sind zu lang, um gezeigt zu werden (mehr als ${approvalLimit} Zeichen). ${untouched(failure)}`;
    case 'not_as_approved':
      return `Der Aufruf war nicht der, dem du zugestimmt hast, und wurde angehalten. ${untouched(failure)}`;
    case 'form':
      return form(failure);
    case 'too_many_questions':
      return failure.limitOf === 'user'
        ? `${failure.server} hatte eine Frage, aber du hast zu viele offene Fragen. Der Aufruf wurde angehalten. ${doneBefore} ${answerFirst}`
        : `${failure.server} hatte eine Frage, aber in diesem Gesprächsschritt sind zu viele offen. Der Aufruf wurde angehalten. ${doneBefore}`;
    case 'too_many_held':
      return `${failure.server} hatte eine Frage, aber im Moment werden zu viele Menschen gefragt. Der Aufruf wurde angehalten. ${doneBefore} Versuch es später noch einmal.`;
    case 'too_many_rounds':
      return failure.what === 'rounds'
        ? `${failure.server} hat immer weiter gefragt: Nach ${failure.limit} Runden von Antworten wurde der Aufruf angehalten. ${doneBefore}`
        : `${failure.server} hat dich ${failure.limit}-mal auf dieselbe Seite geschickt. Der Aufruf wurde angehalten. ${doneBefore}`;
    case 'page_not_opened':
      return pageNotOpened(failure);
    case 'unaskable':
      return failure.isTask
        ? `${failure.server} wollte etwas wissen, wonach du nicht gefragt werden kannst: ${failure.why}. Die Aufgabe wurde abgebrochen.`
        : `${failure.server} wollte etwas wissen, wonach du nicht gefragt werden kannst: ${failure.why}. Der Aufruf wurde nicht fertig.`;
    case 'nobody_to_ask':
      return 'Das Werkzeug hatte eine Frage, die in diesem Aufruf nicht gestellt werden konnte.';
    case 'ended_while_asking':
      return `${failure.server} endete, während du gefragt wurdest. Der Aufruf wurde nicht fertig.`;
    case 'call_ended':
      return 'Der Aufruf ist zu Ende.';
    case 'not_allowed':
      return `Dieser Agent darf ${failure.tool} nicht benutzen. ${notRun}`;
    case 'no_server':
      return `Den Server „${failure.server}“ gibt es nicht mehr. ${notRun}`;
    case 'not_called':
      return `${failure.server} konnte wegen eines Fehlers auf unserer Seite nicht aufgerufen werden. ${notRun} Versuch es gleich noch einmal.`;
    case 'account_unusable':
      return failure.isOperators
        ? `${failure.trouble} ${notRun} Das müssen die Betreiber dieses Dienstes beheben. Neu verbinden hilft nicht.`
        : `${failure.trouble} ${notRun} Versuch es später noch einmal.`;
    case 'server_trouble':
      return failure.note === undefined
        ? serverTrouble(failure.trouble)
        : `${serverTrouble(failure.trouble)} ${notRun}`;
    case 'interrupted':
      return `${serverTrouble(failure.trouble)} Der Aufruf wurde nicht fertig. ${doneBefore} Nichts wurde doppelt gesendet. Du kannst es später noch einmal versuchen.`;
    case 'unknown_outcome': {
      const { server, trouble } = failure;
      const what =
        trouble === undefined
          ? `${server} wurde aufgerufen, aber die Antwort kam nie an.`
          : `${server} wurde aufgerufen, und dann: ${serverTrouble(trouble)}`;
      return `${what} Ob die Aktion stattgefunden hat, ist nicht bekannt. Sie wurde nicht wiederholt. Sieh in ${server} nach, bevor du es noch einmal versuchst.`;
    }
    case 'tool_lost':
      return `${failure.tool} wurde von den Betreibern dieses Dienstes angehalten und nicht fertig. ${doneBefore} Sieh nach, bevor du es noch einmal versuchst.`;
    case 'tool_stuck':
      return `${failure.tool} kam nicht zu einem Ende und wurde angehalten: ein Fehler im Werkzeug. ${doneBefore}`;
    case 'tool_not_run':
      return `${failure.tool} konnte wegen eines Fehlers auf unserer Seite nicht ausgeführt werden. Versuch es gleich noch einmal.`;
    case 'no_answer':
      return `${failure.agent} hat die Aufgabe nicht erledigt. ${whyOf(failure.failure)} ${doneBefore}`;
    case 'empty_answer':
      return `${failure.agent} hat die Aufgabe ohne eine Antwort beendet. ${doneBefore}`;
    case 'no_tool':
    case 'tool_gone':
      return `Ein Werkzeug „${failure.tool}“ gibt es nicht.`;
    case 'bad_arguments':
      return `${failure.tool} wurde mit unlesbaren Angaben aufgerufen. ${notRun}`;
    case 'form_refused':
      return `Du wurdest nicht gefragt, weil das Formular des Agenten nicht gezeigt werden kann: ${failure.why}`;
    case 'no_task':
      return `${failure.tool} wurde ohne eine Aufgabe aufgerufen und deshalb nicht gefragt.`;
    case 'not_handed_on':
      return failure.why === 'too-often'
        ? `${failure.agent} wurde nicht gefragt: Die Aufgabe wurde so oft weitergegeben, wie es erlaubt ist (${failure.limit}).`
        : `${failure.agent} wurde nicht gefragt: Ein Agent darf nur ${failure.limit} Aufgaben auf einmal vergeben.`;
    case 'unfinished':
      return unfinished(failure);
    default:
      return failure satisfies never;
  }
}

function account({ why, server, address }: Of<'account'>): string {
  const asked = `Du wurdest gebeten, dein Konto bei ${server} zu verbinden,`;
  const later = address === undefined ? '' : ` Verbinden kannst du es jederzeit unter ${address}.`;
  switch (why) {
    case 'decline':
      return `${asked} und hast abgelehnt. ${notRun}${later}`;
    case 'cancel':
      return `${asked} und hast die Frage verworfen, ohne zu entscheiden. ${notRun} Du kannst es später noch einmal versuchen.${later}`;
    case 'expired':
      return `${asked} aber die Zeit lief ab, bevor es eine Antwort gab. ${notRun} Du kannst noch einmal fragen.${later}`;
    case 'unsupported':
      return address === undefined
        ? `Dafür wird dein Konto bei ${server} gebraucht, und dein Programm kann die Frage danach nicht zeigen. ${notRun} Verbinde ${server} in einem Programm, das es kann, und versuch es dann noch einmal.`
        : `Dafür wird dein Konto bei ${server} gebraucht, und dein Programm kann die Frage danach nicht zeigen. ${notRun} Verbinde ${server} unter ${address} und versuch es dann noch einmal.`;
    case 'no-user':
      return `Dafür wird das Konto eines Menschen bei ${server} gebraucht. ${notRun} ${service}`;
    case 'too-many-open':
      return `Dafür wird dein Konto bei ${server} gebraucht, aber du hast zu viele offene Fragen. ${notRun} ${answerFirst}`;
    case 'too-many-in-turn':
      return `Dafür wird dein Konto bei ${server} gebraucht, aber in diesem Gesprächsschritt sind zu viele Fragen offen. ${notRun}`;
    case 'still-refused':
      return `Du hast dein Konto bei ${server} verbunden, aber ${server} weist es noch immer ab. ${notRun} Prüfe, ob das Konto das darf.`;
    default:
      return why satisfies never;
  }
}

function sharedAccount({ server, reason, contact }: Of<'shared_account'>): string {
  const trouble: Record<ConnectionReason, string> = {
    missing: 'und es ist nicht verbunden',
    rejected: `und ${server} weist es ab`,
    insufficient_scope: 'und ihm fehlt eine Berechtigung, die hier gebraucht wird',
    revoked: 'und sein Zugang wurde entzogen',
  };
  const task = reason === 'missing' ? 'es zu verbinden' : 'es neu zu verbinden';
  return `${server} wird hier von allen mit einem gemeinsamen Konto benutzt, ${trouble[reason]}. Bitte ${contact ?? 'die Betreiber dieses Dienstes'}, ${task}.`;
}

function approval({ why, server, reason }: Of<'approval'>): string {
  const asked = 'Du wurdest um Zustimmung zu diesem Aufruf gebeten';
  const nothing = untouched({ server });
  switch (why) {
    case 'decline':
      return reason === undefined
        ? `${asked} und hast abgelehnt. ${nothing}`
        : `${asked} und hast abgelehnt. Dein Grund: ${JSON.stringify(reason)} ${nothing}`;
    case 'cancel':
      return `${asked} und hast die Frage verworfen, ohne zu entscheiden. ${nothing} Du kannst es später noch einmal versuchen.`;
    case 'expired':
      return `${asked}, aber die Zeit lief ab, bevor es eine Antwort gab. ${nothing} Du kannst noch einmal fragen.`;
    case 'unsupported':
      return `Dafür wird deine Zustimmung gebraucht, und dein Programm kann die Frage danach nicht zeigen. ${nothing} Frag noch einmal in einem Programm, das Fragen zeigt.`;
    case 'no-user':
      return `Dafür wird die Zustimmung eines Menschen gebraucht. ${nothing} ${service}`;
    case 'too-many-open':
      return `Dafür wird deine Zustimmung gebraucht, aber du hast zu viele offene Fragen. ${nothing} ${answerFirst}`;
    case 'too-many-in-turn':
      return `Dafür wird deine Zustimmung gebraucht, aber in diesem Gesprächsschritt sind zu viele Fragen offen. ${nothing}`;
    default:
      return why satisfies never;
  }
}

function untouched({ server }: { server: string | null }): string {
  return server === null ? notRun : `An ${server} wurde nichts gesendet.`;
}

function form({ why }: Of<'form'>): string {
  switch (why) {
    case 'decline':
      return 'Du wolltest nicht antworten.';
    case 'cancel':
      return 'Du hast das Formular ohne eine Antwort geschlossen.';
    case 'expired':
      return 'Die Zeit lief ab, bevor du geantwortet hast. Du kannst noch einmal fragen.';
    case 'unsupported':
      return 'Dein Programm kann das Formular nicht zeigen.';
    case 'too-many-open':
      return `Du hast zu viele offene Fragen und wurdest deshalb nicht gefragt. ${answerFirst}`;
    case 'too-many-in-turn':
      return 'In diesem Gesprächsschritt sind zu viele Fragen offen. Du wurdest deshalb nicht gefragt.';
    case 'no-user':
      return 'Aufgerufen hat ein Dienst, den man nicht fragen kann.';
    case 'limit-reached':
      return 'Der Agent hat in diesem Gesprächsschritt so viele Formulare gezeigt, wie er darf.';
    default:
      return why satisfies never;
  }
}

function pageNotOpened({ why, server }: Of<'page_not_opened'>): string {
  const asked = `Du wurdest gebeten, eine Seite von ${server} zu öffnen, die dieses Werkzeug zuerst braucht,`;
  switch (why) {
    case 'decline':
      return `${asked} und hast abgelehnt. ${notRun}`;
    case 'cancel':
      return `${asked} und hast die Frage verworfen, ohne zu entscheiden. ${notRun} Du kannst es später noch einmal versuchen.`;
    case 'expired':
      return `${asked} aber die Zeit lief vorher ab. ${notRun} Du kannst noch einmal fragen.`;
    default:
      return why satisfies never;
  }
}

function unfinished({ end, state }: Of<'unfinished'>): string {
  const isReplaced = end === 'superseded';
  if (state === 'delegated')
    return isReplaced
      ? `Der Agent hat auf dich gewartet, und du hast eine neue Nachricht geschickt. ${doneBefore}`
      : `Der Gesprächsschritt endete, während ein anderer Agent an der Aufgabe arbeitete. ${doneBefore}`;
  if (isWaiting({ end, state }))
    return isReplaced
      ? `Das Werkzeug hat auf dich gewartet, und du hast eine neue Nachricht geschickt. Es wurde nicht fertig. ${doneBefore}`
      : `Der Gesprächsschritt endete, während das Werkzeug auf dich wartete. Es wurde nicht fertig. ${doneBefore}`;
  if (state === 'started')
    return 'Der Gesprächsschritt endete, während das Werkzeug lief. Ob die Aktion stattgefunden hat, ist nicht bekannt. Sieh nach, bevor du es noch einmal versuchst.';
  return isReplaced
    ? `Du wurdest nach etwas gefragt, das dieses Werkzeug braucht, und hast eine neue Nachricht geschickt. ${notRun}`
    : 'Der Gesprächsschritt endete, bevor das Werkzeug laufen konnte.';
}

function whyOf(failure: TurnFailure | undefined): string {
  if (!failure) return 'Der Agent wurde angehalten.';
  return 'message' in failure ? failure.message : turnFailure(failure);
}

const notSetUp =
  'Der Assistent kann nicht antworten, weil etwas falsch eingerichtet ist. Sag es den Betreibern dieses Dienstes.';
const again = 'Frag noch einmal, damit es weitergeht.';

function turnFailure(failure: CodedFailure): string {
  switch (failure.code) {
    case 'MaxStepsReached': {
      const remedy = failure.isDelegated ? '' : ' Bitte ihn, weiterzumachen.';
      return `Der Agent hat nach ${failure.maxSteps} Schritten aufgehört, ohne fertig zu werden.${remedy}`;
    }
    case 'UnknownAgent':
      return `Den Agenten „${failure.agent}“ gibt es nicht mehr. Wähle einen anderen.`;
    case 'ModelRateLimited':
      return 'Der Assistent hat gerade zu viel zu tun. Versuch es gleich noch einmal.';
    case 'ModelUnavailable':
      return 'Der Assistent ist gerade nicht zu erreichen. Versuch es gleich noch einmal.';
    case 'ModelQuotaExhausted':
    case 'ModelUnauthorized':
    case 'ModelRefusedRequest':
    case 'ModelMisconfigured':
      return notSetUp;
    case 'ModelContextTooLong':
      return 'Diese Unterhaltung ist zu lang für den Assistenten. Beginne eine neue.';
    case 'ModelContentPolicy':
      return 'Der Assistent hat wegen seiner Inhaltsregeln nicht geantwortet. Formuliere die Bitte anders.';
    case 'ModelEmptyAnswer':
      return failure.isOutOfRoom
        ? 'Dem Assistenten ging der Platz aus, bevor er etwas sagen konnte. Bitte um etwas Kürzeres.'
        : 'Der Assistent hat nichts geantwortet. Frag noch einmal oder mit anderen Worten.';
    case 'TurnFailed':
      return 'Auf unserer Seite ist etwas schiefgegangen, und die Antwort wurde nicht fertig.';
    case 'TurnLost':
      return `Der Gesprächsschritt ging verloren, bevor die Antwort fertig war. ${again}`;
    case 'TurnTerminated':
      return `Der Gesprächsschritt wurde von außen beendet, bevor die Antwort fertig war. ${again}`;
    case 'TurnTimedOut':
      return `Der Gesprächsschritt hat länger gedauert als erlaubt und wurde beendet. ${again}`;
    default:
      return failure satisfies never;
  }
}
