/** What is wrong with one field; `pointer` is a JSON pointer into the request. */
export interface FieldError {
  pointer: string;
  detail: string;
}

interface ErrorFacts {
  /** The HTTP status; 0 when no answer came. */
  status: number;
  /** Stable, for programs: the `code` of the problem document, `unreachable`, or `unexpected_response`. */
  code: string;
  /** For people: what is wrong and what to do. */
  detail: string;
  errors?: FieldError[];
  /** The live turn, when the conversation is busy with one. */
  turnId?: string;
  /** When the same request may succeed, if the service says so. */
  retryAfterMs?: number | undefined;
}

export class InterludeError extends Error {
  override name = 'InterludeError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly turnId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    { status, code, detail, errors = [], turnId, retryAfterMs }: ErrorFacts,
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.turnId = turnId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads a problem document (RFC 9457), or any other answer, for example of a proxy. */
export async function toInterludeError(response: Response): Promise<InterludeError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const problem = parseObject(text);
  const { code, detail, errors, turnId } = problem;
  if (typeof code !== 'string') return unexpectedResponse(response);
  return new InterludeError({
    status,
    code,
    detail: typeof detail === 'string' ? detail : `The service answered ${status} ${code}.`,
    errors: Array.isArray(errors) ? errors.filter(isFieldError) : [],
    ...(typeof turnId === 'string' && { turnId }),
    retryAfterMs: retryAfter(response),
  });
}

/** Also because a timer of more than 24 days would fire at once. */
const longestWaitMs = 300_000;

function retryAfter({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), longestWaitMs) : undefined;
}

export function unexpectedResponse(response: Response): InterludeError {
  const { status, url } = response;
  const detail = `${originOf(url)} answered ${status} in a way Interlude does not. Check the base URL and any proxy in between.`;
  return new InterludeError({
    status,
    code: 'unexpected_response',
    detail,
    retryAfterMs: retryAfter(response),
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The field of the form that a pointer names: `/content/extras/1` is about `extras`. */
export function fieldAt(pointer: string): string | undefined {
  const name = /^\/content\/([^/]*)/.exec(pointer)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  return name === '' ? undefined : name;
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value['pointer'] === 'string' && typeof value['detail'] === 'string';
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'The service';
}
