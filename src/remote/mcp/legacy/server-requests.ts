/**
 * Requests and notifications that a server of the old era sends during our call. If the call's stream can be resumed by
 * event ids, a question ends the call here: it goes on at the server until there are answers. Otherwise no other process
 * could resume it, so this worker holds the connection meanwhile.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Capabilities, ClosedBecause } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { CallFailure } from '../../../turn/call-failure.ts';
import type { AskUser } from '../../remote-servers.ts';
import type { Deadline } from '../../deadline.ts';
import type { InputRequired, RunningCall, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import type { Connection } from '../connection.ts';
import { maxQuestions, tooManyQuestions } from '@interlude-ai/core/mcp/read-question.ts';
import { readServerMessage, toProgress, toResponse } from '@interlude-ai/core/mcp/legacy-messages.ts';
import type { Credential } from '../../../credentials/credential-store.ts';

/** Servers only need a ping now and then. */
const maxRequests = 300;

/** Why a call ends without an answer of the server. */
export type EarlyEnd =
  | { kind: 'detached'; pause: InputRequired }
  | { kind: 'unaskable'; reason: string }
  | { kind: 'stopped'; failure: CallFailure }
  /** The connection is no longer usable. */
  | { kind: 'lost' };

interface Parts {
  connection: Connection;
  capabilities: Capabilities;
  deadline: Deadline;
  /** Without it, a server whose stream has no event ids cannot ask. */
  askUser: AskUser | undefined;
}

const askNobody: AskUser = {
  ask: () => Promise.resolve({ kind: 'refused', failure: { code: 'nobody_to_ask' } }),
  pageDone: () => undefined,
};

export function handleServerRequests({ connection, capabilities, deadline, askUser = askNobody }: Parts) {
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
    onStop: (failure) => end({ kind: 'stopped', failure }),
    onLost: () => end({ kind: 'lost' }),
  });

  /** Returns whether the message was handled here; otherwise the SDK handles it. */
  function handle(message: JSONRPCMessage): boolean {
    // Later messages are not needed, or are replayed.
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
        // Messages of the standing stream are not replayed on the call's stream.
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
    // Questions are only batched in a session.
    if (!running) return;
    const asked = questions.map(({ key }) => key);
    const call = { ...running, lastEventId: stream.lastEventId(), asked };
    end({ kind: 'detached', pause: { questions, resume: { kind: 'detached', call } } });
  });

  return {
    /** Never resolves when the call gets its answer. */
    endedEarly,
    /** Why a question was refused. The server may still answer the call without it. */
    refusalReason: refusal.reason,
    /** All questions were answered, so nothing of this call is open between the two sides. */
    isClear: () => !isOver && refusal.reason() === undefined && held.areAnswered() && batch.count() === 0,
    onEventId: stream.onEventId,
    /** `because`: for the questions that are still open. */
    end(because: ClosedBecause) {
      refusal.end();
      batch[Symbol.dispose]();
      held.end(because);
    },
  };
}

export type ServerRequests = ReturnType<typeof handleServerRequests>;

/** Of the call's own stream. The standing stream has no event ids for us. */
function watchEventIds() {
  let lastEventId = '';
  let isCurrent = false;
  return {
    lastEventId: () => lastEventId,
    /** Whether the message that is being handled came on the call's stream. */
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

interface HeldParts {
  askUser: AskUser;
  deadline: Deadline;
  /** The call that is held, if its server keeps sessions. */
  runningCall(): RunningCall | undefined;
  send(message: JSONRPCMessage): Promise<void>;
  setCredential(credential: Credential): void;
  /** Called when the call cannot go on. */
  onStop(failure: CallFailure): void;
  /** Called when an answer could not be delivered, so the state of the call is unknown. */
  onLost(): void;
}

interface OpenQuestion {
  question: ServerQuestion;
  withdrawn: AbortController;
  /** Resolves when the server has sent all questions that it asks together with this one. */
  isComplete: Promise<void>;
}

/** Stock servers time out after a minute. */
const progressEveryMs = 15_000;

function createHeldQuestions(parts: HeldParts) {
  const { askUser, deadline, send, onLost } = parts;
  const open = new Map<string, OpenQuestion>();
  const unanswered = new Set<ServerQuestion>();
  const noMoreToCome = createQuietPeriod();

  async function ask({ question, isComplete }: OpenQuestion, signal: AbortSignal): Promise<void> {
    // A server that asks for more than the limit at once reaches no user.
    await isComplete;
    if (signal.aborted) return;
    const answered = await askUser.ask(question, signal, parts.runningCall());
    if (signal.aborted) return;
    if (answered.kind === 'refused') return parts.onStop(answered.failure);
    if (answered.credential) parts.setCredential(answered.credential);
    unanswered.delete(question);
    await send(toResponse(answered.answer)).catch(onLost);
  }

  return {
    open(question: ServerQuestion) {
      // Answers could not be assigned to two questions with the same key.
      if (open.has(question.key)) return;
      const withdrawn = new AbortController();
      const opened = { question, withdrawn, isComplete: noMoreToCome.restart() };
      open.set(question.key, opened);
      unanswered.add(question);
      deadline.pause();
      const progressTimer = reportProgress(question, send);
      void ask(opened, AbortSignal.any([withdrawn.signal, deadline.signal]))
        .catch(() => (withdrawn.signal.aborted || deadline.end ? undefined : onLost()))
        .finally(() => {
          clearInterval(progressTimer);
          open.delete(question.key);
          if (open.size === 0) deadline.resume();
        });
    },
    withdraw: (key: string) => open.get(key)?.withdrawn.abort('server_gave_up' satisfies ClosedBecause),
    pageDone(pageId: string) {
      for (const { question, isComplete } of open.values())
        if (question.pageId === pageId) void isComplete.then(() => askUser.pageDone(question));
    },
    count: () => open.size,
    /** Whether an answer to each question is at least being sent. */
    areAnswered: () => unanswered.size === 0,
    /** The call has ended: closes the open questions. */
    end(because: ClosedBecause) {
      for (const { withdrawn } of open.values()) withdrawn.abort(because);
    },
  };
}

/** Extends the server's timeout while the user is asked. */
function reportProgress(question: ServerQuestion, send: HeldParts['send']): NodeJS.Timeout {
  let count = 0;
  return setInterval(() => {
    const progress = toProgress(question, ++count);
    // A lost report is followed by the next.
    if (progress) send(progress).catch(() => undefined);
  }, progressEveryMs);
}

/**
 * How long to wait for another question: five times 10 ms, too short to be noticed. Each of them is a pass of the event
 * loop, so a busy process reads what has arrived before it concludes that no more questions come.
 */
const passes = 5;
const passMs = 10;

function createQuietPeriod() {
  let over = Promise.withResolvers<void>();
  let passesLeft = passes;
  let timer: NodeJS.Timeout | undefined;
  const pass = () => {
    if (--passesLeft > 0) return;
    clearInterval(timer);
    timer = undefined;
    over.resolve();
    over = Promise.withResolvers<void>();
  };
  return {
    /** Resolves when the period has passed since the latest call. Never resolves after disposal. */
    restart() {
      passesLeft = passes;
      timer ??= setInterval(pass, passMs);
      return over.promise;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/**
 * Batches questions that arrive one by one, so that the user gets them together: servers that want two things ask for both
 * at once. `onTooMany` is called above the limit.
 */
export function batchQuestions(onTooMany: () => void) {
  const questions = new Map<string, ServerQuestion>();
  const { promise: complete, resolve } = Promise.withResolvers<ServerQuestion[]>();
  const noMoreToCome = createQuietPeriod();
  return {
    add(question: ServerQuestion) {
      if (questions.size >= maxQuestions) return onTooMany();
      questions.set(question.key, question);
      void noMoreToCome.restart().then(() => questions.size > 0 && resolve([...questions.values()]));
    },
    withdraw: (key: string) => void questions.delete(key),
    count: () => questions.size,
    /** Resolves with all questions a moment after the last one. Never resolves without a question. */
    complete,
    [Symbol.dispose]: () => noMoreToCome[Symbol.dispose](),
  };
}

const gracePeriodMs = 5_000;

/**
 * A server whose question was refused may still answer the call without it, within this period. `onExpired` is called with the
 * reason when the period ends without an answer.
 */
export function createRefusalGracePeriod(onExpired: (reason: string) => void) {
  let first: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Only the first reason counts. */
    start(reason: string) {
      first ??= reason;
      timer ??= setTimeout(onExpired, gracePeriodMs, reason);
    },
    /** Undefined if nothing was refused. */
    reason: () => first,
    end: () => clearTimeout(timer),
  };
}
