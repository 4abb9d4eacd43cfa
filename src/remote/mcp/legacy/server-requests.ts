/**
 * The old era's side of a call: what the server says on its stream while it works. A question is either held, or, where
 * the stream can be taken up again by its event ids, the call is left to the server until people have answered.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { ClosedBecause } from '../../../elicitation/elicitation.ts';
import type { Connection } from '../connect.ts';
import { createCoping } from './refusal-grace-period.ts';
import type { Deadline } from '../../deadline.ts';
import { gatherQuestions } from './question-batch.ts';
import { createHeldQuestions } from './held-questions.ts';
import type { Hold } from './held-questions.ts';
import { hear } from './messages.ts';
import type { Pause, RunningCall } from '../../input-required.ts';
import { mostQuestions, tooManyQuestions } from '../read-question.ts';

/** What servers need within one call is a ping now and then. */
const mostRequests = 300;

/** Why a call ends without an answer of the server's. */
export type TalkEnd =
  | { kind: 'detached'; pause: Pause }
  | { kind: 'unaskable'; reason: string }
  /** The reason is complete, and made for the model. */
  | { kind: 'stopped'; message: string }
  /** The connection is of no use any more. */
  | { kind: 'lost' };

export interface Talk {
  /** Never resolves when the call simply comes to its answer. */
  ended: Promise<TalkEnd>;
  /** Why something it asked was put to nobody. It was told so, and what it makes of it is its answer. */
  refused(): string | undefined;
  /** Whatever the server has asked was answered, so that nothing of this call is between the two sides any more. */
  isClear(): boolean;
  /** To be told of each event id of the call's stream. */
  seen(eventId: string): void;
  /** `because`: what became of the server, for the questions that are still open. */
  end(because: ClosedBecause): void;
}

interface Parts {
  connection: Connection;
  capabilities: Capabilities;
  deadline: Deadline;
  /** Without it, a server whose stream has no event ids cannot ask. */
  hold: Hold | undefined;
}

const noHold: Hold = {
  ask: () => Promise.resolve({ kind: 'refused', message: 'Nobody can be asked in the middle of this call.' }),
  pageDone: () => undefined,
};

export function startTalk({ connection, capabilities, deadline, hold = noHold }: Parts): Talk {
  const { transport, wire } = connection;
  const { promise: ended, resolve } = Promise.withResolvers<TalkEnd>();
  let isOver = false;
  let requests = 0;
  const coping = createCoping((reason) => end({ kind: 'unaskable', reason }));
  const gathered = gatherQuestions(tooMany);
  let lastEventId: string | undefined;
  let isOnCallStream = false;
  const held = createHeldQuestions({
    hold,
    call: runningCall,
    deadline,
    send: (message) => transport.send(message),
    renew: (credential) => connection.renew(credential),
    stop: (message) => end({ kind: 'stopped', message }),
    lost: () => end({ kind: 'lost' }),
  });

  function end(why: TalkEnd): void {
    isOver = true;
    resolve(why);
  }

  function tooMany(): void {
    end({ kind: 'unaskable', reason: tooManyQuestions });
  }

  /** True when it was for us. */
  function take(message: JSONRPCMessage): boolean {
    // What it says after that is for nobody, or is told again.
    if (isOver) return true;
    if ('method' in message && 'id' in message && ++requests > mostRequests) {
      end({ kind: 'unaskable', reason: `it made more than ${mostRequests} requests of its own` });
      return true;
    }
    const heard = hear(message, capabilities);
    switch (heard?.kind) {
      case undefined:
        return false;
      case 'question':
        if (canDetach()) gathered.add(heard.question);
        else if (held.count() >= mostQuestions) tooMany();
        else held.open(heard.question);
        return true;
      case 'unaskable':
        transport.send(heard.refusal).catch(() => undefined);
        coping.refuse(heard.reason);
        return true;
      case 'withdrawn':
        held.withdraw(heard.key);
        gathered.withdraw(heard.key);
        return false;
      case 'page-done':
        held.pageDone(heard.pageId);
        return true;
      default:
        return heard satisfies never;
    }
  }

  function canDetach(): boolean {
    // What came on the standing stream is not told again on the call's, nor is what may follow it there.
    return isOnCallStream && transport.sessionId !== undefined;
  }

  function runningCall(): RunningCall | undefined {
    const { sessionId, protocolVersion = '' } = transport;
    const callId = wire.last('tools/call')?.id as string | number;
    return sessionId === undefined ? undefined : { sessionId, protocolVersion, callId };
  }

  const toSdk = transport.onmessage;
  transport.onmessage = (message) => {
    if (!take(message)) toSdk?.(message);
  };
  void gathered.complete.then((questions) => {
    const running = runningCall();
    // Without a session nothing is gathered.
    if (!running) return;
    const asked = questions.map(({ key }) => key);
    const call = { ...running, lastEventId: lastEventId ?? '', asked };
    end({ kind: 'detached', pause: { questions, resume: { kind: 'detached', call } } });
  });

  return {
    ended,
    refused: coping.refused,
    isClear: () => !isOver && coping.refused() === undefined && held.areAnswered() && gathered.count() === 0,
    seen(eventId) {
      lastEventId = eventId;
      // The message of an event comes in the same breath as its id.
      isOnCallStream = true;
      queueMicrotask(() => (isOnCallStream = false));
    },
    end(because) {
      coping.end();
      gathered[Symbol.dispose]();
      held.end(because);
    },
  };
}
