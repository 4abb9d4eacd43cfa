/** What clients trip over in a question, and in everything else that a server sends during a call. Pure. */
import { inspectForm } from '@interlude-ai/core/elicitation/form/inspect-form.ts';
import { isRecord, textOf } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { inspectUrl, isLoopbackHost, warningText } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { Era } from '../call/read-answer.ts';
import type { Seen } from './rules.ts';

interface RawQuestion {
  /** Its key among the requests (2026-07-28), or the id of the request (before). */
  key: string;
  params: Record<string, unknown>;
}

function inspectQuestion({ params }: RawQuestion, era: Era): Seen[] {
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

/** The questions in a message of a server, in any form. */
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

// The address of a page. The page is never fetched.

/** Parameters that sign in anyone who has the link. */
const credential =
  /^(?:access|id|refresh|auth|connection|bearer)?[-_]?token$|jwt|password|passwd|secret|api[-_]?key|credential|^sid$/i;
const personal = /[\w.+-]@[\w-]{1,63}\.[a-z]/i;
const jwt = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;

export function inspectPage({ url }: Record<string, unknown>): Seen[] {
  // A missing address is a protocol fault, and reported as such.
  if (typeof url !== 'string') return [];
  const parsed = URL.parse(url);
  const inspected = inspectUrl(url);
  if (parsed && (parsed.username !== '' || parsed.password !== ''))
    return [{ rule: 'url-with-credentials', message: 'The url has a user or a password before its host.' }];
  if (!parsed || inspected.kind === 'refused') {
    const reason = inspected.kind === 'refused' ? inspected.reason : 'The url cannot be read.';
    return [{ rule: 'url-invalid', message: reason }];
  }
  const { warnings, host } = inspected;
  const parameters = [...parsed.searchParams, ...new URLSearchParams(parsed.hash.slice(1))];
  const given = parameters.find(
    ([name, value]) => value !== '' && (credential.test(name) || jwt.test(value)),
  );
  const said =
    parameters.some(([, value]) => personal.test(value)) || personal.test(decoded(parsed.pathname));
  return [
    ...(warnings.includes('plain_http')
      ? [{ rule: 'url-not-https' as const, message: `The url of ${host} is not encrypted.` }]
      : []),
    ...(given
      ? [{ rule: 'url-with-credentials' as const, message: `The url has a "${given[0]}" in it.` }]
      : []),
    ...(said
      ? [{ rule: 'url-with-personal-data' as const, message: 'The url has an email address in it.' }]
      : []),
    ...warnings
      .filter(
        (warning) => warning === 'punycode' || (warning === 'ip_host' && !isLoopbackHost(parsed.hostname)),
      )
      .map((warning) => ({
        rule: 'url-looks-wrong' as const,
        message: warningText(warning).replace('Careful: the', 'The'),
      })),
  ];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export interface InspectedCall {
  questions: RawQuestion[];
  /** Pages that the server reports as done (2025-11-25). */
  completed: string[];
  seen: Seen[];
}

export function inspectCall(messages: readonly Record<string, unknown>[], era: Era): InspectedCall {
  const questions = messages.flatMap(questionsIn);
  const completed = messages
    .filter(({ method }) => method === 'notifications/elicitation/complete')
    .map(({ params }) => String(isRecord(params) ? params['elicitationId'] : ''));
  return {
    questions,
    completed,
    seen: [
      ...questions.flatMap((question) => inspectQuestion(question, era)),
      ...completions(questions, completed, era),
      ...results(messages, era),
    ],
  };
}

function completions(questions: readonly RawQuestion[], completed: readonly string[], era: Era): Seen[] {
  if (completed.length === 0) return [];
  if (era === 'modern')
    return [
      { rule: 'wrong-era', message: 'It sent notifications/elicitation/complete to a client of 2026-07-28.' },
    ];
  const asked = new Set(questions.map(({ params }) => params['elicitationId']));
  const isUnknown = completed.some((id) => !asked.has(id));
  return isUnknown
    ? [{ rule: 'unknown-completion', message: 'It said that a page is done for which it did not ask.' }]
    : [];
}

function results(messages: readonly Record<string, unknown>[], era: Era): Seen[] {
  const isNew = messages.some(({ result }) => isRecord(result) && result['resultType'] !== undefined);
  return era === 'legacy' && isNew
    ? [{ rule: 'wrong-era', message: 'It sent a resultType to a client of the old era.' }]
    : [];
}
