/**
 * Two tools for each rule of `lint-server`: one that breaks it and one that keeps it, named after the rule:
 * `url-not-https.bad`, `url-not-https.good`.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { form, page, startHostileServer } from './hostile-server.ts';
import type { HostileServer, Trick } from './hostile-server.ts';
import { answer, answerError, sendEvent, startStream } from './raw-mcp-server.ts';

type Request = ReturnType<typeof form> | ReturnType<typeof page>;
type Era = 'modern' | 'legacy';
type Pair = [bad: Trick, good: Trick];

const result = (words: string, isError = false) => ({
  resultType: 'complete',
  content: [{ type: 'text', text: words }],
  isError,
});
const oldResult = (words: string, isError = false) => ({ content: [{ type: 'text', text: words }], isError });
const wasAccepted = (answers: unknown) => (JSON.stringify(answers) ?? '').includes('"accept"');
const outcome = (answers: unknown) => (wasAccepted(answers) ? 'it was done' : 'nothing was done');
const fields = (properties: object) => form({ requestedSchema: { type: 'object', properties } });
const named = (schema: object) => fields({ wish: { type: 'string', ...schema } });
const withoutId = (request: { method: string; params: object }) => {
  const { elicitationId: _id, ...params } = request.params as Record<string, unknown>;
  return { method: request.method, params } as Request;
};
const sign = (text: string) => createHmac('sha256', 'key').update(text).digest('hex');

interface Asking {
  key?: () => string;
  state?: () => string;
  /** The answer to a call that brings answers. */
  after?: Trick;
}

/** Asks once in the new era, and ends with any answer. */
function round(request: Request, { key = () => 'one', state, after }: Asking = {}): Trick {
  return (message, response, call) => {
    if (message.params?.inputResponses) return (after ?? does)(message, response, call);
    const requestState = state?.();
    return answer(message, response, {
      resultType: 'input_required',
      inputRequests: { [key()]: request },
      ...(requestState !== undefined && { requestState }),
    });
  };
}

const says =
  (words: string, isError = false): Trick =>
  (message, response) =>
    answer(message, response, result(words, isError));

/** As it should be: what is accepted is done, and nothing else. */
const does: Trick = (message, response) =>
  answer(message, response, result(outcome(message.params?.inputResponses)));

/** Asks once in the old era, in the stream of the call. */
function push(
  request: { method: string; params: object },
  more: { end?: (words: string) => object; completes?: string } = {},
): Trick {
  return async (message, response, { answerTo }) => {
    const id = randomUUID();
    startStream(response);
    sendEvent(response, { id, ...request });
    const { result: given } = await answerTo(id);
    if (more.completes !== undefined) {
      const params = { elicitationId: more.completes };
      sendEvent(response, { method: 'notifications/elicitation/complete', params });
    }
    sendEvent(response, { id: message.id, result: more.end?.(outcome(given)) ?? oldResult(outcome(given)) });
    response.end();
  };
}

/** What either era asks alike. */
const questions: Record<string, [bad: Request, good: Request]> = {
  'nested-schema': [
    fields({ address: { type: 'object', properties: { city: { type: 'string' } } } }),
    fields({ city: { type: 'string' } }),
  ],
  'schema-leftover': [named({ format: 'uuid' }), named({ format: 'date' })],
  'secret-in-form': [fields({ password: { type: 'string' } }), fields({ account: { type: 'string' } })],
  'link-in-form': [
    named({ description: 'See https://terms.example/' }),
    named({ description: 'See the terms' }),
  ],
  'url-invalid': [page('/connect'), page('https://pages.example/connect')],
  'url-not-https': [page('http://pages.example/connect'), page('http://127.0.0.1:8080/connect')],
  'url-with-credentials': [
    page('https://pages.example/connect?access_token=abc'),
    page('https://pages.example/connect?ref=abc'),
  ],
  'url-with-personal-data': [
    page('https://pages.example/connect?for=ada@example.com'),
    page('https://pages.example/connect?for=7f3a'),
  ],
  'url-looks-wrong': [page('https://xn--pypal-4ve.example/'), page('https://paypal.example/')],
};

const modern: Record<string, Pair> = {
  'wrong-era': [round(page('https://pages.example/')), round(withoutId(page('https://pages.example/')))],
  'asks-in-other-era': [
    says('Server-to-client requests are not available on protocol revision 2026-07-28', true),
    says('The multi-storey car park is closed', true),
  ],
  'unstable-keys': [round(named({}), { key: randomUUID }), round(named({}))],
  'unstable-state': [takenOnce(), round(named({}), signed())],
  'state-unprotected': [round(named({}), { state: () => 'step 1' }), round(named({}), signed())],
  'no-decline-path': [
    (message, response) =>
      answer(message, response, { resultType: 'input_required', inputRequests: { one: named({}) } }),
    round(named({})),
  ],
  'decline-ignored': [round(named({}), { after: says('deleted') }), round(named({}))],
  protocol: [
    (message, response) =>
      answer(message, response, { resultType: 'input_required', inputRequests: [{ id: 'one' }] }),
    round(named({})),
  ],
};

const legacy: Record<string, Pair> = {
  'missing-elicitation-id': [
    push(withoutId(page('https://pages.example/'))),
    push(page('https://pages.example/'), { completes: 'https://pages.example/' }),
  ],
  'missing-completion': [
    push(page('https://pages.example/')),
    push(page('https://pages.example/'), { completes: 'https://pages.example/' }),
  ],
  'unknown-completion': [push(named({}), { completes: 'whose?' }), push(named({}))],
  'wrong-era': [push(named({}), { end: result }), push(named({}))],
  'asks-in-other-era': [
    (message, response) =>
      answerError(message, response, -32602, 'InputRequiredResult requires protocol version 2026-07-28'),
    push(named({})),
  ],
  'no-decline-path': [
    async (message, response, { answerTo }) => {
      const id = randomUUID();
      startStream(response);
      sendEvent(response, { id, ...named({}) });
      const { result: given = {} } = await answerTo(id);
      const words = given['content']
        ? 'done'
        : "TypeError: Cannot read properties of undefined (reading 'wish')";
      sendEvent(response, {
        id: message.id,
        result: oldResult(words, !given['content']),
      });
      response.end();
    },
    push(named({})),
  ],
};

/** With `answers: accept everything`, each `bad` tool shows its rule and no other error, and each `good` one nothing. */
export async function startRuleBreakingServer(era: Era): Promise<HostileServer> {
  const ask = (request: Request) =>
    era === 'modern'
      ? round(withoutId(request))
      : push(request, 'url' in request.params ? { completes: request.params.url } : {});
  const pairs: Record<string, Pair> = {
    ...Object.fromEntries(
      Object.entries(questions).map(([rule, [bad, good]]) => [rule, [ask(bad), ask(good)]] as [string, Pair]),
    ),
    ...(era === 'modern' ? modern : legacy),
  };
  const tricks = Object.fromEntries(
    Object.entries(pairs).flatMap(([rule, [bad, good]]) => [
      [`${rule}.bad`, bad],
      [`${rule}.good`, good],
    ]),
  );
  return startHostileServer({ era, tricks });
}

function signed(): Asking {
  const state = `step 1.${sign('step 1')}`;
  return {
    state: () => state,
    after(message, response, call) {
      if (message.params?.requestState === state) return does(message, response, call);
      return answerError(message, response, -32602, 'Invalid requestState', 400);
    },
  };
}

/** A state that the server forgets when it has seen it. */
function takenOnce(): Trick {
  const known = new Set<string>();
  return round(named({}), {
    state() {
      const state = randomUUID();
      known.add(state);
      return state;
    },
    after(message, response, call) {
      if (known.delete(message.params?.requestState ?? '')) return does(message, response, call);
      return answerError(message, response, -32602, 'Invalid requestState', 400);
    },
  });
}
