/** What a person in Slack reads when the service refuses something, in German. */
import type { ServiceErrorCode } from '../../../service/service-error.ts';

export const refusalsDe: Record<ServiceErrorCode, string> = {
  invalid_request: 'Diese Anfrage ist unvollständig oder nicht zu verstehen.',
  invalid_content: 'Die Antwort passt nicht zur Frage. Bitte prüfen Sie sie.',
  unauthenticated: 'Melden Sie sich zuerst an.',
  forbidden: 'Das dürfen Sie nicht.',
  cannot_act_for_users: 'Das geht nur für Menschen, nicht für einen Dienst.',
  person_required: 'Das kann nur ein angemeldeter Mensch tun.',
  unknown_agent: 'Den Agenten, der hier antwortet, gibt es nicht mehr.',
  unknown_server: 'Diesen Server gibt es nicht mehr.',
  conversation_not_found: 'Diese Unterhaltung gibt es nicht mehr.',
  turn_not_found: 'Diesen Gesprächsschritt gibt es nicht mehr.',
  turn_in_progress: 'Ich arbeite noch an der vorigen Nachricht.',
  message_id_reused: 'Diese Nachricht habe ich schon mit einem anderen Text bekommen.',
  idempotency_key_reused: 'Diese Anfrage habe ich schon mit einem anderen Inhalt bekommen.',
  elicitation_not_found: 'Diese Frage gibt es nicht mehr.',
  approval_not_found: 'Diese Zustimmung gibt es nicht mehr.',
  not_your_question: 'Das ist für jemand anderen: Nur die gefragte Person kann antworten.',
  already_answered: 'Diese Frage ist schon beantwortet.',
  expired: 'Diese Frage ist abgelaufen.',
  images_not_taken: 'Diese Bilder kann ich nicht annehmen.',
  too_many_hops: 'Diese Aufgabe wurde zu oft weitergegeben.',
  turn_over: 'Der Gesprächsschritt ist schon zu Ende.',
  rate_limited: 'Das war für den Augenblick zu viel. Versuchen Sie es später noch einmal.',
  unavailable: 'Ich bin gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.',
};
