/** What went wrong with a server, for a person, in German. */
import type { ServerTrouble } from '@interlude-ai/core/mcp/trouble.ts';

export function serverTrouble(trouble: ServerTrouble): string {
  const { server } = trouble;
  const notReached = `${server} ist nicht zu erreichen`;
  const notStarted = `${server} lässt sich nicht starten`;
  switch (trouble.code) {
    case 'cancelled':
      return `Der Aufruf von ${server} wurde abgebrochen.`;
    case 'timeout':
      return `${server} hat nicht innerhalb von ${trouble.seconds} s geantwortet.`;
    case 'task_timeout':
      return `${server} war nicht innerhalb von ${trouble.seconds} s fertig.`;
    case 'task_stopped':
      return `${server} war nicht innerhalb von ${trouble.seconds} s fertig und wurde angehalten.`;
    case 'answer_too_large':
      return `${server} hat eine Antwort von mehr als ${trouble.megabytes} MB geschickt, die nicht zu Ende gelesen wird.`;
    case 'connection_ended':
      return `${server} hat die Verbindung vor der Antwort beendet.`;
    case 'session_lost':
      return `${server} hat die Sitzung der Anfrage verloren (HTTP 404), wie nach einem Neustart. Versuch es noch einmal.`;
    case 'unreadable_message':
      return `${server} hat auf ${trouble.method} mit einer unlesbaren Nachricht geantwortet.`;
    case 'not_mcp':
    case 'not_mcp_process':
      return `${server} hat nicht wie ein MCP-Server geantwortet.`;
    case 'redirected':
      return `${server} hat eine Weiterleitung geschickt (HTTP ${trouble.status}), der nicht gefolgt wird.`;
    case 'no_endpoint':
      return `${server} hat unter dieser Adresse keinen MCP-Endpunkt (HTTP 404).`;
    case 'busy':
      return `${server} bekommt zu viele Anfragen (HTTP 429). Versuch es später noch einmal.`;
    case 'request_refused':
      return `${server} hat die Anfrage abgewiesen (HTTP ${trouble.status}).`;
    case 'failing':
      return `${server} hat eine Störung (HTTP ${trouble.status}). Versuch es später noch einmal.`;
    case 'task_failing':
      return `${server} hat eine Störung (HTTP ${trouble.status}).`;
    case 'not_listening':
      return `${notReached}: Unter der Adresse antwortet nichts.`;
    case 'unknown_host':
      return `${notReached}: Der Name des Rechners ist nicht bekannt.`;
    case 'connect_timeout':
      return `${notReached}: Die Verbindung wurde nicht rechtzeitig angenommen.`;
    case 'connection_broken':
      return `${server} hat die Verbindung abgebrochen. Versuch es später noch einmal.`;
    case 'certificate':
      return `${notReached}: Das TLS-Zertifikat wurde nicht angenommen (${trouble.error}).`;
    case 'not_reached':
      return `${notReached}${trouble.error && ` (${trouble.error})`}.`;
    case 'command_not_found':
      return `${notStarted}: Das Programm ${trouble.command} wurde nicht gefunden.`;
    case 'command_not_executable':
      return `${notStarted}: ${trouble.command} darf nicht ausgeführt werden.`;
    case 'no_folder':
      return `${notStarted}: Den Ordner ${trouble.folder} gibt es nicht.`;
    case 'user_not_permitted':
      return `${notStarted}: Der Worker darf keine Programme als Benutzer ${trouble.uid} starten.`;
    case 'not_started':
      return `${notStarted} (${trouble.error}).`;
    case 'process_ended':
      return `${server} ist beendet worden, bevor eine Antwort kam (${trouble.how}).`;
    case 'header_unsendable':
      return `${server} wurde nicht aufgerufen: Der Wert des Headers „${trouble.header}“ lässt sich nicht senden.`;
    case 'other_era':
      return `${server} spricht nicht MCP ${trouble.era} (HTTP ${trouble.status}), wie es die Agentendatei verlangt.`;
    case 'era_learned':
      return `${server} musste etwas fragen, was in MCP ${trouble.was} nicht geht. Von nun an wird MCP ${trouble.now} benutzt: Ein weiterer Aufruf wird fragen.`;
    case 'tools_not_listed':
      return `${server} kann seine Werkzeuge nicht auflisten (Fehler ${trouble.error}).`;
    case 'too_many_tools':
      return `${server} nennt mehr als ${trouble.tools} Werkzeuge, 1 MB an Beschreibungen oder ${trouble.pages} Seiten. So viel wird nicht gelesen.`;
    case 'call_refused':
      return `${server} hat den Aufruf abgewiesen: ${trouble.words}`;
    case 'call_failed':
      return `${server} ist bei dem Aufruf gescheitert (Fehler ${trouble.error}).`;
    case 'unreadable_answer':
      return `${server} hat in einer unlesbaren Form geantwortet.`;
    case 'call_ended':
      return 'Der Aufruf ist zu Ende.';
    case 'task_refused':
      return `${server} hat die Anfrage abgewiesen: ${JSON.stringify(trouble.words)}`;
    case 'task_unknown':
      return `${server} kennt die Aufgabe nicht mehr.`;
    case 'task_cancelled':
      return `Die Aufgabe von ${server} wurde abgebrochen.`;
    case 'task_end_unknown':
      return `${server} hat die Aufgabe in einem Zustand beendet, der hier nicht bekannt ist.`;
    case 'no_messages':
      return `${server} nimmt unter dieser Adresse keine Nachrichten an (HTTP ${trouble.status}).`;
    case 'no_card':
      return `${server} gibt keine Agentenkarte heraus (HTTP ${trouble.status}).`;
    case 'no_card_content':
      return `${server} schickt etwas anderes als eine Agentenkarte.`;
    case 'card_late':
      return `${server} hat die Agentenkarte nicht rechtzeitig geschickt.`;
    case 'no_interface':
      return `${server} bietet keinen Weg an, der hier bekannt ist.`;
    case 'other_host':
      return `Die Agentenkarte von ${server} schickt Nachrichten an einen anderen Rechner, an den nichts gesendet wird.`;
    case 'execute_timeout':
      return `Es war nicht innerhalb von ${trouble.seconds} Sekunden fertig.`;
    default:
      return trouble satisfies never;
  }
}
