/** What both pages need to know of their agent's runs. */
import { createContext, useEffect, useRef, useState } from 'react';
import type { AbstractAgent } from '@ag-ui/client';
import { askerOf, questionOf } from './interlude.ts';
import type { Answer, Interrupt } from './interlude.ts';

/** The end of a turn, which clients of before 1.0 get as an error. */
const ends = new Set(['cancelled', 'superseded']);

const askAgain = 'To be asked again, send your message once more.';

export interface Run {
  failure: string | null;
  /** Which questions have ended without an answer, and what the person can do. */
  notices: readonly string[];
  forgetNotices(): void;
  /** By how many milliseconds this machine's clock is ahead of the service's. */
  ahead: number;
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
  notices: [],
  forgetNotices: () => undefined,
  ahead: 0,
  settled: new Set(),
  given: new Map(),
  give: () => undefined,
});

/** `reconnect` runs the thread again. It is called after a run has lost its stream: the turn goes on without the page. */
export function useRun(agent: AbstractAgent, reconnect: () => void): Run {
  const [failure, setFailure] = useState<string | null>(null);
  const [notices, setNotices] = useState<readonly string[]>([]);
  const [ahead, setAhead] = useState(0);
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const [given, setGiven] = useState<Run['given']>(new Map());
  const latest = useRef(reconnect);
  latest.current = reconnect;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const askers = new Map<string, string>();
    const notify = (text: string) => setNotices((before) => [...before, text]);
    /** The client keeps the interrupts of a run that its last answers were sent in, and starts no other run. */
    function forget() {
      isOver = true;
      agent.pendingInterrupts = [];
    }
    /** Until a run begins: the library may refuse to start one. */
    function reconnect(delay: number) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        latest.current();
        reconnect(1_000);
      }, delay);
    }
    function lose() {
      setFailure('The connection is lost. Trying again …');
      reconnect(1_000);
    }
    function refuse(message: string) {
      if (!message.startsWith('HTTP 410')) return setFailure(detailOf(message));
      askers.clear();
      notify(`Your answer came too late: the time to answer was over. ${askAgain}`);
      reconnect(0);
    }
    const { unsubscribe } = agent.subscribe({
      onRunInitialized() {
        isOver = false;
        clearTimeout(timer);
      },
      onRunStartedEvent() {
        setFailure(null);
      },
      onCustomEvent({ event: { name, value } }) {
        if (name !== 'interlude/question') return;
        const { interruptId: id, status } = value as { interruptId: string; status: string };
        setSettled((before) => new Set([...before, id]));
        const asker = askers.get(id);
        // A run may report it again.
        askers.delete(id);
        if (status === 'expired' && asker !== undefined)
          notify(`${asker} got no answer in time, and the agent goes on without it. ${askAgain}`);
      },
      onRunFinishedEvent(end) {
        isOver = true;
        if (end.event.timestamp !== undefined) setAhead(Date.now() - end.event.timestamp);
        if (end.outcome !== 'interrupt') return;
        for (const interrupt of end.interrupts) askers.set(interrupt.id, askerOf(interrupt));
      },
      onRunErrorEvent({ event: { code = '', message } }) {
        forget();
        if (code === 'lost' || code === 'turn_unfinished') return lose();
        if (code === 'refused') refuse(message);
        else if (!ends.has(code)) setFailure(message);
      },
      onRunFailed({ error }) {
        if (isOver) return;
        forget();
        if (error.message.startsWith('HTTP 4')) refuse(error.message);
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
    notices,
    forgetNotices: () => setNotices([]),
    ahead,
    settled,
    given,
    give(interrupt, answer) {
      const one = { interrupt, answer };
      if (isOpened(one)) sessionStorage.setItem(interrupt.id, 'opened');
      setGiven((before) => new Map(before).set(interrupt.id, one));
    },
  };
}

/** Also before the page was loaded again. */
export function wasOpened({ id }: Interrupt): boolean {
  return sessionStorage.getItem(id) === 'opened';
}

/** What a problem document says: the client puts it after the status. */
function detailOf(message: string): string {
  try {
    return JSON.parse(message.replace(/^HTTP \d+: /, '')).detail ?? message;
  } catch {
    return message;
  }
}
