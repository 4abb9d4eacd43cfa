/** A reader of the UI-message stream that lets a test await what it is interested in. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { createWaiting } from '../waiting.ts';

export interface Chunk {
  type: string;
  [member: string]: unknown;
}

export interface ElicitationData {
  elicitationId: string;
  status: string;
  mode: string;
  url: string;
  message: string;
  expiresAt: string;
  context: Record<string, unknown>;
}

export type ChatStream = ReturnType<typeof readChatStream>;

export function readChatStream(response: Response, abort: AbortController) {
  const chunks: Chunk[] = [];
  const waiting = createWaiting();
  let isDone = false;

  const reading = (async () => {
    const events = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const { data } of events ?? []) {
      if (data === '[DONE]') isDone = true;
      else chunks.push(JSON.parse(data) as Chunk);
      waiting.wake();
    }
  })()
    .catch(() => undefined)
    .finally(() => waiting.end(() => new Error(`The stream ended without it: ${JSON.stringify(chunks)}`)));

  /** The first chunk that fits, whether it was seen already or is still to come. Rejects when the stream ends without it. */
  const until = (fits: (chunk: Chunk) => boolean) => waiting.until(() => chunks.find(fits));

  return {
    status: response.status,
    turnId: response.headers.get('x-turn-id') ?? '',
    chunks,
    until,
    /** The next (or a past) state of a question. */
    async question(status: string) {
      const isIt = ({ type, data }: Chunk) =>
        type === 'data-elicitation-request' && (data as ElicitationData).status === status;
      return (await until(isIt))['data'] as ElicitationData;
    },
    /** The first `count` different questions that were seen in this state, in the order in which they came. */
    questions: (status: string, count: number) =>
      waiting.until(() => {
        const seen = chunks.flatMap(({ type, data }) =>
          type === 'data-elicitation-request' ? [data as ElicitationData] : [],
        );
        const found = seen.filter((question) => question.status === status);
        const different = [...new Map(found.map((question) => [question.elicitationId, question])).values()];
        return different.length >= count && different.slice(0, count);
      }),
    /** All chunks, once the stream has ended with `[DONE]`. */
    async finished() {
      await reading;
      if (!isDone) throw new Error(`The stream was cut: ${JSON.stringify(chunks)}`);
      return chunks;
    },
    /** The answer's text so far. */
    text: () =>
      chunks
        .filter(({ type }) => type === 'text-delta')
        .map(({ delta }) => String(delta))
        .join(''),
    close: () => abort.abort(),
  };
}
