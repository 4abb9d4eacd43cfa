/**
 * A server that asks properly amid what a hostile one sends: control and bidirectional characters, answers to requests that
 * were not made, unknown methods, events that are no messages, and a second answer after the first.
 */
import { randomUUID } from 'node:crypto';
import { form, startHostileServer } from './hostile-server.ts';
import type { HostileServer, Trick } from './hostile-server.ts';
import { sendEvent, startStream } from './raw-mcp-server.ts';

/** Clears the screen, moves up, colours, sets the title, hides a link, writes backwards. */
export const tricky =
  '\u001B[2J\u001B[1A\u001B[31mred\u001B]0;title\u0007\u001B]8;;https://evil.example\u0007link\u0000\b\u009B31m\u202Egnp.exe\u202C';

const nights = {
  message: `${tricky}How many nights in Rome?`,
  requestedSchema: {
    type: 'object',
    properties: { nights: { type: 'integer', title: `Nights ${tricky}`, minimum: 1, maximum: 30 } },
    required: ['nights'],
  },
};
/** Opaque to the client. */
const state = `state \u2028"'\\: [&*!|>%@\`]\n\t~ ${tricky}`;

interface Answer {
  action: string;
  content?: { nights?: number };
}

const resultOf = ({ action, content }: Answer) => ({
  resultType: 'complete',
  content: [
    {
      type: 'text',
      text: `${tricky}${action === 'accept' ? `booked Rome for ${content?.nights}` : `not booked: ${action}`}`,
    },
  ],
});

/** Messages that a client must ignore. */
const noise: ((token: unknown) => object)[] = [
  (progressToken) => ({
    method: 'notifications/progress',
    params: { progressToken, progress: 1, total: 3, message: tricky },
  }),
  () => ({ method: 'notifications/progress', params: { progressToken: 'nobody’s', progress: 'much' } }),
  () => ({ method: 'notifications/message', params: { level: tricky, logger: tricky, data: { tricky } } }),
  () => ({ method: `notifications/${tricky}`, params: { tricky } }),
  () => ({ id: 'nobody asked', result: { content: [{ type: 'text', text: 'booked by somebody else' }] } }),
  () => ({ id: 'nobody asked', error: { code: 7, message: tricky } }),
];

export function startNoisyServer(era: 'modern' | 'legacy'): Promise<HostileServer> {
  const book: Trick = async ({ id, params }, response, { answerTo }) => {
    startStream(response);
    response.write(': no message\n\nevent: other\ndata: neither\n\n');
    for (const message of noise) sendEvent(response, message(params?._meta?.['progressToken']));
    const end = (result: object) => {
      sendEvent(response, { id, result });
      sendEvent(response, { id, result: { resultType: 'complete', content: [], isError: true } });
      response.end();
    };
    if (era === 'legacy') {
      const question = randomUUID();
      sendEvent(response, { id: question, method: 'elicitation/create', params: nights });
      const { result } = await answerTo(question);
      const { resultType: _, ...old } = resultOf(result as unknown as Answer);
      return end(old);
    }
    const answer = params?.inputResponses?.['how long'];
    if (!answer)
      return end({
        resultType: 'input_required',
        inputRequests: { 'how long': form(nights) },
        requestState: state,
      });
    const isIntact = params.requestState === state;
    return end(
      isIntact ? resultOf(answer as Answer) : { resultType: 'complete', content: [], isError: true },
    );
  };
  return startHostileServer({ era, tricks: { book } });
}
