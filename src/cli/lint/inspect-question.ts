/** What clients stumble over in one question, as it came over the wire. Pure. */
import { inspectForm } from '../../elicitation/form/inspect-form.ts';
import { isRecord, textOf } from '../../elicitation/form/schema-keywords.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { inspectPage } from './inspect-page.ts';
import type { Seen } from './rules.ts';

export interface RawQuestion {
  /** Its key among the requests (2026-07-28); the id of the request before. */
  key: string;
  params: Record<string, unknown>;
}

export function inspectQuestion({ params }: RawQuestion, era: Era): Seen[] {
  const question = textOf(params['message']) ?? '';
  const isPage = params['mode'] === 'url';
  const seen = isPage ? inspectPage(params) : inspectForm(params);
  const idSeen = isPage ? inspectId(params, era) : [];
  return [...seen, ...idSeen].map((one) => ({ ...one, question }));
}

function inspectId({ elicitationId }: RawQuestion['params'], era: Era): Seen[] {
  const hasId = textOf(elicitationId) !== undefined;
  if (era === 'legacy' && !hasId)
    return [{ rule: 'missing-elicitation-id', message: 'Its url question has no elicitationId.' }];
  if (era === 'modern' && elicitationId !== undefined)
    return [
      { rule: 'wrong-era', message: 'Its question has an elicitationId, which 2026-07-28 has removed.' },
    ];
  return [];
}

/** Questions in a message of the server's, however it asks. */
export function questionsIn(message: Record<string, unknown>): RawQuestion[] {
  const { id, method, params, result, error } = message;
  if (method === 'elicitation/create' && isRecord(params))
    return [{ key: JSON.stringify(id ?? null), params }];
  const requests = isRecord(result) ? result['inputRequests'] : undefined;
  if (isRecord(requests))
    return Object.entries(requests).flatMap(([key, request]) =>
      isRecord(request) && request['method'] === 'elicitation/create' && isRecord(request['params'])
        ? [{ key, params: request['params'] }]
        : [],
    );
  const data = isRecord(error) && error['code'] === -32042 ? error['data'] : undefined;
  const pages: unknown = isRecord(data) ? data['elicitations'] : undefined;
  return Array.isArray(pages)
    ? pages.filter(isRecord).map((page) => ({ key: String(page['elicitationId']), params: page }))
    : [];
}
