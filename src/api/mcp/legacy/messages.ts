/** The JSON-RPC 2.0 messages of clients up to 2025-11-25 and their server. Pure. */
import { z } from 'zod';

/** Ids are stored, so long ones and those with control characters are refused. */
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

/** Null if it is not a message. Batches are not allowed since 2025-06-18. */
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

/** The id for the response to any body. */
export function idIn(body: unknown): RequestId | null {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return IdSchema.safeParse(id).data ?? null;
}

/** From the id of an event that `call-stream.ts` made: the request's id as JSON, or null. */
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

/** The id of our own request: the question's, and how often its answer did not fit. */
export function questionRequestId(elicitationId: string, times: number): string {
  return `${elicitationId}/${times}`;
}

export function questionOf(id: RequestId): string {
  return String(id).replace(/\/\d+$/, '');
}
