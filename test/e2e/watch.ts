/** A client that follows one turn through everything, and what it got to see on the way. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import type { NewMessage } from '@interlude-ai/client/new-message.ts';
import type { ConnectionStatus } from '@interlude-ai/client/reconnect.ts';
import { isText } from '@interlude-ai/client/turn-view.ts';
import type { Part, TurnView } from '@interlude-ai/client/turn-view.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { createWaiting } from '../waiting.ts';

type Said = Extract<NewMessage, { conversationId: string }>;

export interface Watched {
  message: Said;
  views: TurnView[];
  /** What it heard about its connection. */
  line: ConnectionStatus[];
  /** The first view that fits, past or to come; rejects when the turn ends without one. */
  until(fits: (view: TurnView) => boolean, withinMs?: number): Promise<TurnView>;
  question(status?: Status): Promise<Extract<ElicitationRequest, { mode: 'url' }>>;
  /** The last view, once there will be no other. */
  end(withinMs?: number): Promise<TurnView>;
}

/** Longer than Temporal takes to miss a dead worker, several times over. */
const timeoutMs = 75_000;

export function say(client: Client, text: string, more: Partial<Said> = {}): Watched {
  return watch(client, { conversationId: randomUUID(), message: { id: randomUUID(), text }, ...more });
}

function watch(client: Client, message: Said): Watched {
  const views: TurnView[] = [];
  const line: ConnectionStatus[] = [];
  const waiting = createWaiting();
  const failure = (why: string, cause?: unknown) =>
    new Error(`${why}; last seen: ${JSON.stringify(views.at(-1), null, 1)}`, { cause });
  const following = client.start(message, { onStatus: (status) => line.push(status) });
  void (async () => {
    for await (const view of following) {
      views.push(view);
      waiting.wake();
    }
  })().then(
    () => waiting.end(() => failure('The turn ended without it')),
    (error: unknown) => waiting.end(() => failure('The turn ended without it', error)),
  );

  async function until(fits: (view: TurnView) => boolean, withinMs = timeoutMs): Promise<TurnView> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(failure(`Not after ${withinMs / 1000} s`)), withinMs);
    const found = waiting.until(() => views.find(fits));
    return Promise.race([found, late.promise]).finally(() => clearTimeout(timer));
  }

  return {
    message,
    views,
    line,
    until,
    async question(status = 'pending') {
      const view = await until((seen) => questionsIn(seen).some((event) => event.status === status));
      const found = questionsIn(view).find((event) => event.status === status);
      if (found?.mode !== 'url') throw new Error('That was no question with a link.');
      return found;
    },
    end: (withinMs) => until(({ status }) => status !== 'running', withinMs),
  };
}

export function questionsIn({ parts }: TurnView): ElicitationRequest[] {
  return parts.flatMap((part) => (part.kind === 'elicitation' ? part.elicitation : []));
}

export function textOf({ parts }: TurnView): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** What each tool call came to, in order: `connect_tracker: done`. */
export function callsIn({ parts }: TurnView): string[] {
  return parts.flatMap((part) => (part.kind === 'tool-call' ? `${part.toolName}: ${part.state.kind}` : []));
}

/** The tool errors that the model got. */
export function failuresIn({ parts }: TurnView): string[] {
  return parts.flatMap((part) =>
    part.kind === 'tool-call' && part.state.kind === 'failed' ? part.state.errorText : [],
  );
}

/**
 * Nothing the reader had seen was changed into something else, or shown a second time; what was taken back is all that a
 * model call had said which was made again.
 */
export function expectOneStory({ views }: Watched): void {
  for (const [index, view] of views.entries()) {
    const ids = view.parts.map(({ id }) => id);
    expect(new Set(ids).size, 'every part once').toBe(ids.length);
    const before = views[index - 1];
    if (!before) continue;
    const gone = before.parts.filter(({ id }) => !ids.includes(id));
    expect(gone, 'words of one step, and all of them').toEqual(gone.length === 0 ? [] : lastWords(before));
    const kept = before.parts.filter((part) => !gone.includes(part));
    expect(ids.slice(0, kept.length), 'parts stay where they are').toEqual(kept.map(({ id }) => id));
    kept.forEach((part, position) => expectGrown(part, view.parts[position]));
  }
}

function lastWords({ parts }: TurnView): Part[] {
  const words = parts.filter(isText);
  return words.filter(({ step }) => step === words.at(-1)?.step);
}

function expectGrown(before: Part, after: Part | undefined): void {
  if (before.kind === 'text' && after?.kind === 'text') expect(after.text.startsWith(before.text)).toBe(true);
  if (before.kind === 'tool-call' && before.state.kind !== 'running') expect(after).toEqual(before);
  if (before.kind === 'elicitation' && before.elicitation.status !== 'pending') expect(after).toEqual(before);
}

/** A reader who comes now reads the same. */
export async function expectSameForNewcomer(client: Client, watched: Watched): Promise<void> {
  const newcomer = watch(client, watched.message);
  expect(await newcomer.end()).toEqual(await watched.end());
  expectOneStory(newcomer);
}

/** Of its workflow, once anything was seen of it. */
export function workflowIdOf({ message: { conversationId: conversation }, views }: Watched): string {
  const { turnId } = views.at(-1) ?? { turnId: null };
  if (turnId === null) throw new Error('Nothing was seen of the turn yet');
  return turnWorkflowId({ tenant: 'demo', conversation, turnId });
}
