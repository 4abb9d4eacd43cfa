/** One request over HTTP+JSON, of either version: read, handed to the agent's handler, and answered in the form of its version. */
import type { StreamResponse } from '@a2a-js/sdk';
import { A2AError, RequestMalformedError, restStatusFor, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unreadable } from './errors.ts';
import { nameExtensions } from './served.ts';
import type { Agents } from './served.ts';
import { sendStream } from './stream.ts';
import { isLegacy } from './versions.ts';

export interface RestCall {
  handler: A2ARequestHandler;
  context: ServerCallContext;
  body: unknown;
  query: Record<string, unknown>;
  /** What stands behind `tasks/`. */
  path: string;
  /** The part of it before an action; empty elsewhere. */
  id: string;
  action: string;
}

type Events = AsyncGenerator<StreamResponse, void, undefined>;
export type Respond = (call: RestCall) => Promise<object> | Events;

/** What the versions write differently. */
export interface RestForm {
  isLegacy: boolean;
  mediaType: string;
  extensionsHeader: string;
  writeEvent(event: StreamResponse): object;
  writeError(error: unknown): object;
}

export async function answer(
  { find, contextFor }: Agents,
  request: FastifyRequest,
  reply: FastifyReply,
  { form, respond }: { form: RestForm; respond: Respond },
): Promise<FastifyReply> {
  const params = request.params as { agent: string; '*'?: string };
  const { card, handler } = find(params.agent);
  const context = contextFor(request, reply);
  nameExtensions(reply, context, form.extensionsHeader);
  reply.type(form.mediaType);
  try {
    const { requestedVersion } = context;
    validateVersion(requestedVersion, card, 'HTTP+JSON');
    if (isLegacy(requestedVersion) !== form.isLegacy)
      throw new VersionNotSupportedError(`This address is not one of version ${requestedVersion}.`);
    const path = params['*'] ?? '';
    const [id = '', action = ''] = splitLast(path);
    const query = request.query as Record<string, unknown>;
    const answered = respond({ handler, context, body: request.body, query, path, id, action });
    if (Symbol.asyncIterator in answered)
      return await sendStream(reply, written(answered, form), {
        failed: form.writeError,
        failedStatus: restStatusFor,
      });
    return await reply.send(await answered);
  } catch (error) {
    // What is not of the protocol is the surface's to explain.
    if (!(error instanceof A2AError)) throw error;
    return reply.code(restStatusFor(error)).send(form.writeError(error));
  }
}

/** Clients name a type also where they send nothing. */
export function acceptEmptyBodies(fastify: FastifyInstance, mediaTypes: string[]): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser(mediaTypes, { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null, undefined) : parse(request, body.toString(), done),
  );
}

/** `decode`: the SDK's codecs throw errors of their own at what they cannot read. */
export function decoded<T>(decode: (body: unknown) => T, body: unknown): T {
  try {
    return decode(body ?? {});
  } catch {
    throw unreadable();
  }
}

export function unknownAction(action: string): A2AError {
  return new RequestMalformedError(`There is nothing called "${action}" to do with a task.`);
}

export function integerIn(query: Record<string, unknown>, name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw new RequestMalformedError(`${name}: send a whole number.`);
}

async function* written(events: Events, { writeEvent }: RestForm): AsyncGenerator<object> {
  for await (const event of events) yield writeEvent(event);
}

/** `{id}:{action}` */
function splitLast(path: string): string[] {
  const at = path.lastIndexOf(':');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}
