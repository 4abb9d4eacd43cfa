/** A task as server-sent events, for either transport. */
import { A2AError } from '@a2a-js/sdk/errors';
import type { FastifyReply } from 'fastify';
import { sendEventStream, toData } from '../http/event-stream.ts';

interface Failing {
  /** The body for an error. */
  failed(error: unknown): object;
  /** The HTTP status of an error before the first event. */
  failedStatus(error: unknown): number;
  /** Send an error before the first event as an event, too. */
  isEvent?: boolean;
}

export function isStream(value: object): value is AsyncGenerator<object> {
  return Symbol.asyncIterator in value;
}

/** An error before the first event becomes a plain response. Throws errors that are not A2A's. */
export async function sendStream(
  reply: FastifyReply,
  events: AsyncGenerator<object>,
  { failed, failedStatus, isEvent = false }: Failing,
): Promise<FastifyReply> {
  let first: IteratorResult<object>;
  try {
    first = await events.next();
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    if (!isEvent) return reply.code(failedStatus(error)).send(failed(error));
    first = { value: failed(error) };
  }
  async function* texts(): AsyncGenerator<string> {
    try {
      if (first.done) return;
      yield toData(first.value);
      for await (const event of events) yield toData(event);
    } catch (error) {
      yield `event: error\n${toData(failed(error))}`;
    }
  }
  // The events end with their reader.
  return sendEventStream(reply, { texts: texts(), signal: new AbortController().signal });
}
