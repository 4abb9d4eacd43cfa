/** What both pages need to know of their agent's runs. */
import { createContext, useEffect, useRef, useState } from 'react';
import type { AbstractAgent } from '@ag-ui/client';
import { questionOf } from './interlude.ts';
import type { Answer, Interrupt } from './interlude.ts';

/** The end of a turn, which clients of before 1.0 get as an error. */
const ends = new Set(['cancelled', 'superseded']);

export interface Run {
  failure: string | null;
  /** Ids of questions that have ended. */
  settled: ReadonlySet<string>;
  /** The user's answers, by the question's id. A form that does not fit is asked again, and begins with them. */
  given: ReadonlyMap<string, Given>;
  give(interrupt: Interrupt, answer: Answer): void;
}

interface Given {
  interrupt: Interrupt;
  answer: Answer;
}

/** Such a link waits for its page to be done, or its account to be connected. */
export function isOpened({ interrupt, answer }: Given): boolean {
  return questionOf(interrupt).mode === 'url' && answer.status === 'resolved' && answer.payload === undefined;
}

export const RunContext = createContext<Run>({
  failure: null,
  settled: new Set(),
  given: new Map(),
  give: () => undefined,
});

/** `reconnect` runs the thread again. It is called after a run has lost its stream: the turn goes on without the page. */
export function useRun(agent: AbstractAgent, reconnect: () => void): Run {
  const [failure, setFailure] = useState<string | null>(null);
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const [given, setGiven] = useState<Run['given']>(new Map());
  const latest = useRef(reconnect);
  latest.current = reconnect;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    /** The client keeps the interrupts of a run that its last answers were sent in, and starts no other run. */
    function forget() {
      isOver = true;
      agent.pendingInterrupts = [];
    }
    function lose() {
      setFailure('The connection is lost. Trying again …');
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(), 1_000);
    }
    const { unsubscribe } = agent.subscribe({
      onRunInitialized() {
        isOver = false;
      },
      onRunStartedEvent() {
        setFailure(null);
      },
      onCustomEvent({ event: { name, value } }) {
        if (name === 'interlude/question') setSettled((before) => new Set([...before, value.interruptId]));
      },
      onRunFinishedEvent() {
        isOver = true;
      },
      onRunErrorEvent({ event: { code = '', message } }) {
        forget();
        if (code === 'lost' || code === 'turn_unfinished') return lose();
        if (!ends.has(code)) setFailure(message);
      },
      onRunFailed({ error }) {
        if (isOver) return;
        forget();
        if (error.message.startsWith('HTTP 4')) setFailure(error.message);
        else lose();
      },
      onRunFinalized() {
        if (isOver) return;
        forget();
        lose();
      },
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [agent]);

  return {
    failure,
    settled,
    given,
    give: (interrupt, answer) =>
      setGiven((before) => new Map(before).set(interrupt.id, { interrupt, answer })),
  };
}
