/**
 * Requests and notifications that a server of the old era sends in the middle of our call. A question is either held, or,
 * where the call's stream can be resumed by its event ids, the call is left to the server until people have answered.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { ClosedBecause } from '../../../elicitation/elicitation.ts';
import type { AskUser } from '../../ask-user.ts';
import type { Deadline } from '../../deadline.ts';
import type { InputRequired, RunningCall } from '../../input-required.ts';
import type { Connection } from '../connection.ts';
import { maxQuestions, tooManyQuestions } from '../../read-question.ts';
import { createHeldQuestions } from './held-questions.ts';
import { readServerMessage } from './messages.ts';
import { batchQuestions } from './question-batch.ts';
import { createRefusalGracePeriod } from './refusal-grace-period.ts';

/** What servers need within one call is a ping now and then. */
const maxRequests = 300;

/** Why a call ends without an answer of the server's. */
export type EarlyEnd =
  | { kind: 'detached'; pause: InputRequired }
  | { kind: 'unaskable'; reason: string }
  /** The reason is complete, and made for the model. */
  | { kind: 'stopped'; message: string }
  /** The connection is of no use any more. */
  | { kind: 'lost' };

export interface ServerRequests {
  /** Never resolves when the call simply comes to its answer. */
  endedEarly: Promise<EarlyEnd>;
  /** Why something the server asked was put to nobody. The server was told so, and may still answer the call. */
  refusalReason(): string | undefined;
  /** Whatever the server has asked was answered, so that nothing of this call is open between the two sides. */
  isClear(): boolean;
  /** To be called with each event id of the call's stream. */
  onEventId(eventId: string): void;
  /** `because`: what became of the server, for the questions that are still open. */
  end(because: ClosedBecause): void;
}

interface Parts {
  connection: Connection;
  capabilities: Capabilities;
  deadline: Deadline;
  /** Without it, a server whose stream has no event ids cannot ask. */
  askUser: AskUser | undefined;
}

const askNobody: AskUser = {
  ask: () => Promise.resolve({ kind: 'refused', message: 'Nobody can be asked in the middle of this call.' }),
  pageDone: () => undefined,
};

export function handleServerRequests({
  connection,
  capabilities,
  deadline,
  askUser = askNobody,
}: Parts): ServerRequests {
  const { transport } = connection;
  const { promise: endedEarly, resolve } = Promise.withResolvers<EarlyEnd>();
  let isOver = false;
  let requests = 0;
  const end = (why: EarlyEnd) => {
    isOver = true;
    resolve(why);
  };
  const endWithTooMany = () => end({ kind: 'unaskable', reason: tooManyQuestions });
  const refusal = createRefusalGracePeriod((reason) => end({ kind: 'unaskable', reason }));
  const batch = batchQuestions(endWithTooMany);
  const stream = watchEventIds();
  const held = createHeldQuestions({
    askUser,
    deadline,
    runningCall: () => runningCallOf(connection),
    send: (message) => transport.send(message),
    setCredential: (credential) => connection.setCredential(credential),
    onStop: (message) => end({ kind: 'stopped', message }),
    onLost: () => end({ kind: 'lost' }),
  });

  /** Answers whether the message was handled here; otherwise it is the SDK's. */
  function handle(message: JSONRPCMessage): boolean {
    // What is sent after that is for nobody, or is sent again.
    if (isOver) return true;
    if ('method' in message && 'id' in message && ++requests > maxRequests) {
      end({ kind: 'unaskable', reason: `it made more than ${maxRequests} requests of its own` });
      return true;
    }
    const read = readServerMessage(message, capabilities);
    switch (read?.kind) {
      case undefined:
        return false;
      case 'question':
        // What came on the standing stream is not replayed on the call's, nor is what may follow it there.
        if (stream.isCurrent() && transport.sessionId !== undefined) batch.add(read.question);
        else if (held.count() >= maxQuestions) endWithTooMany();
        else held.open(read.question);
        return true;
      case 'unaskable':
        transport.send(read.refusal).catch(() => undefined);
        refusal.start(read.reason);
        return true;
      case 'withdrawn':
        held.withdraw(read.key);
        batch.withdraw(read.key);
        return false;
      case 'page-done':
        held.pageDone(read.pageId);
        return true;
      default:
        return read satisfies never;
    }
  }

  const toClient = transport.onmessage;
  transport.onmessage = (message) => {
    if (!handle(message)) toClient?.(message);
  };
  void batch.complete.then((questions) => {
    const running = runningCallOf(connection);
    // Without a session no question gets into the batch.
    if (!running) return;
    const asked = questions.map(({ key }) => key);
    const call = { ...running, lastEventId: stream.lastEventId(), asked };
    end({ kind: 'detached', pause: { questions, resume: { kind: 'detached', call } } });
  });

  return {
    endedEarly,
    refusalReason: refusal.reason,
    isClear: () => !isOver && refusal.reason() === undefined && held.areAnswered() && batch.count() === 0,
    onEventId: stream.onEventId,
    end(because) {
      refusal.end();
      batch[Symbol.dispose]();
      held.end(because);
    },
  };
}

/** Of the call's own stream, as opposed to the standing stream, which has no event ids for us. */
function watchEventIds() {
  let lastEventId = '';
  let isCurrent = false;
  return {
    lastEventId: () => lastEventId,
    /** The message that is being handled came on the call's stream. */
    isCurrent: () => isCurrent,
    onEventId(eventId: string) {
      lastEventId = eventId;
      // The message of an event is delivered synchronously after its id.
      isCurrent = true;
      queueMicrotask(() => (isCurrent = false));
    },
  };
}

function runningCallOf({ transport, exchanges }: Connection): RunningCall | undefined {
  const { sessionId, protocolVersion = '' } = transport;
  const callId = exchanges.last('tools/call')?.id as string | number;
  return sessionId === undefined ? undefined : { sessionId, protocolVersion, callId };
}
