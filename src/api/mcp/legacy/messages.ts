/** Messages of JSON-RPC 2.0, as clients up to 2025-11-25 and their server exchange them. Pure. */
import { z } from 'zod';

/** Ids are kept: longer ones, and those with characters that nobody sees, are no ids of a client that means well. */
const IdSchema = z.union([
  z
    .string()
    .max(200)
    .regex(/^\P{C}*$/u),
  z.number(),
]);
const MetaSchema = z.looseObject({ progressToken: IdSchema.optional() });
const ParamsSchema = z.looseObject({ _meta: MetaSchema.optional() }).default({});

const base = { jsonrpc: z.literal('2.0') };
const RequestSchema = z.object({
  ...base,
  id: IdSchema,
  method: z.string(),
  params: ParamsSchema,
});
const NotificationSchema = z.object({
  ...base,
  id: z.undefined().optional(),
  method: z.string(),
  params: ParamsSchema,
});
const ResponseSchema = z.object({
  ...base,
  id: IdSchema,
  method: z.undefined().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

export type RequestId = z.infer<typeof IdSchema>;
export type Request = z.infer<typeof RequestSchema>;

export type Message =
  | ({ kind: 'request' } & Request)
  | ({ kind: 'notification' } & z.infer<typeof NotificationSchema>)
  | ({ kind: 'response' } & z.infer<typeof ResponseSchema>);

/** Null for what is no message: batches are none since 2025-06-18. */
export function readMessage(body: unknown): Message | null {
  const request = RequestSchema.safeParse(body);
  if (request.success) return { kind: 'request', ...request.data };
  const notification = NotificationSchema.safeParse(body);
  if (notification.success) return { kind: 'notification', ...notification.data };
  const response = ResponseSchema.safeParse(body);
  return response.success ? { kind: 'response', ...response.data } : null;
}

export function resultMessage(id: RequestId, result: object) {
  return { jsonrpc: '2.0', id, result };
}

export function errorMessage(id: RequestId | null, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Of whatever was sent: the id that an answer to it has, if there is one. */
export function idIn(body: unknown): RequestId | null {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return IdSchema.safeParse(id).data ?? null;
}

/** Of the id of an event, as `call-stream.ts` makes it: the request's id in JSON; null for what is none. */
export function requestIdIn(tag: string): string | null {
  try {
    const text = Buffer.from(tag, 'base64url').toString();
    return IdSchema.safeParse(JSON.parse(text)).success ? text : null;
  } catch {
    return null;
  }
}

export function requestMessage(id: RequestId, method: string, params: object) {
  return { jsonrpc: '2.0', id, method, params };
}

export function notificationMessage(method: string, params: object) {
  return { jsonrpc: '2.0', method, params };
}

/** Ids of our own requests: the question, and how often its answer did not fit. */
export function questionRequestId(elicitationId: string, times: number): string {
  return `${elicitationId}/${times}`;
}

export function questionOf(id: RequestId): string {
  return String(id).replace(/\/\d+$/, '');
}
