/** A turn of a test: what it asks, what it called, what its model received, how it ended. Everything is data. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@interlude-ai/client/client.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import type { ElicitationReceipt, ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';
import { isTool } from './model.ts';
import type { TurnModel } from './model.ts';
import type { LoggedEvent } from './protocol.ts';
import type { TestService } from './service.ts';

/** Which question to wait for: all members that are given must fit. */
export interface QuestionMatch {
  /** Name of the tool in whose call it is asked, with or without that of its server. */
  tool?: string;
  /** Names of the fields of its form, all of them, in any order. */
  fields?: readonly string[];
  message?: string | RegExp;
  server?: string;
  /** What makes it: `approval`, `credential_required`, `model_question` and others. */
  trigger?: string;
}

/** An execution of a tool. One that failed has `error` instead of `result`. */
export interface Call {
  arguments: unknown;
  result?: unknown;
  error?: string;
}

/** `superseded` and stopped turns are `cancelled`. */
export interface TurnEnd {
  status: Exclude<TurnView['status'], 'running'>;
  /** What the agent said, without its reasoning. */
  text: string;
}

/** What a test does with a question that was asked. The person whose turn it is does it. */
export class Question {
  readonly id: string;
  readonly conversation: string;
  readonly message: string;
  readonly tool: string | undefined;
  readonly trigger: string;
  /** Names of the fields of its form. Empty for a page and for an approval. */
  readonly fields: readonly string[];
  /** As clients get it. */
  readonly request: ElicitationRequest;
  readonly #turn: Turn;
  readonly #client: Client;

  constructor(turn: Turn, client: Client, request: ElicitationRequest) {
    this.#turn = turn;
    this.#client = client;
    this.request = request;
    this.id = request.elicitationId;
    this.conversation = turn.conversation;
    this.message = request.message;
    this.tool = request.context.toolName;
    this.trigger = request.context.trigger;
    this.fields = fieldsOf(request);
  }

  answer(content: Record<string, unknown>): Promise<ElicitationReceipt> {
    return this.#send({ action: 'accept', content });
  }

  /** For an approval, or a page: consent to open it. */
  approve({ remember }: { remember?: 'conversation' | 'always' } = {}): Promise<ElicitationReceipt> {
    return this.#send({ action: 'accept', ...(remember && { remember }) });
  }

  decline(reason?: string): Promise<ElicitationReceipt> {
    return this.#send({ action: 'decline', ...(reason !== undefined && { reason }) });
  }

  cancel(): Promise<ElicitationReceipt> {
    return this.#send({ action: 'cancel' });
  }

  /** How it ended: `accept`, `decline`, `cancel` or `expired`. Waits for it. */
  outcome(): Promise<string> {
    return this.#turn.until(`an end of the question "${this.message}"`, ({ parts }) => {
      const part = parts.find(({ kind, id }) => kind === 'elicitation' && id === this.id);
      const status = part?.kind === 'elicitation' ? part.elicitation.status : 'pending';
      return status === 'pending' ? undefined : status;
    });
  }

  #send(answer: Pick<Parameters<Client['answer']>[0], 'action' | 'content' | 'remember' | 'reason'>) {
    const { id: elicitationId, conversation: conversationId } = this;
    return this.#client.answer({ conversationId, elicitationId, ...answer });
  }
}

export interface TurnParts {
  service: TestService;
  client: Client;
  model: TurnModel;
  tenant: string;
  person: string;
  agent: string;
  text: string;
  /** How long each wait may take, in milliseconds. */
  timeoutMs: number;
}

export class Turn {
  id = '';
  conversation = '';
  readonly #parts: TurnParts;
  #view: TurnView | undefined;
  #failure: unknown;
  #wake = Promise.withResolvers<void>();
  readonly #left = new AbortController();

  private constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Resolves when the service has taken the message. */
  static async begin(parts: TurnParts, conversationId: string): Promise<Turn> {
    const turn = new Turn(parts);
    void turn.#follow(conversationId);
    const view = await turn.until('the beginning of the turn', (one) =>
      one.turnId === null ? undefined : one,
    );
    turn.id = view.turnId ?? '';
    turn.conversation = view.conversationId;
    parts.service.claim(turn.id, parts.model);
    return turn;
  }

  /** Ends the connection, which would keep the runner alive while the turn waits. */
  leave(): void {
    this.#left.abort();
  }

  /** Waits until a question that fits is open. */
  async question(match: QuestionMatch = {}): Promise<Question> {
    const request = await this.until(`a question ${JSON.stringify(match)}`, ({ parts }) =>
      parts
        .flatMap((part) => (part.kind === 'elicitation' ? part.elicitation : []))
        .find((one) => one.status === 'pending' && fits(one, match)),
    );
    return new Question(this, this.#parts.client, request);
  }

  /**
   * Lets time pass for the open questions of this turn, and of no other. Resolves when those whose time is up have expired.
   */
  skip(duration: Duration): Promise<void> {
    return this.#parts.service.ask({ do: 'skip', turn: this.#ref(), ms: readDuration(duration) });
  }

  /** The agent's last words. Waits for the end of the turn, which must have completed and taken all steps of its script. */
  async answer(): Promise<string> {
    const { status, text } = await this.end();
    const { model } = this.#parts;
    if (model.problem !== undefined) throw await this.failure(model.problem);
    if (status !== 'completed')
      throw await this.failure(`The turn ${status}: ${this.#view?.errorText ?? 'it has no answer'}`);
    try {
      model.finish();
    } catch (error) {
      throw await this.failure((error as Error).message);
    }
    return text;
  }

  /** How the turn ended. Waits for it. */
  end(): Promise<TurnEnd> {
    return this.until('the end of the turn', ({ status, parts }) => {
      if (status === 'running') return undefined;
      const steps = parts.flatMap((part) => (part.kind === 'text' ? part.step : []));
      const said = parts.filter((part) => part.kind === 'text' && part.step === Math.max(...steps));
      return { status, text: said.map((part) => (part.kind === 'text' ? part.text : '')).join('') };
    });
  }

  /**
   * The executions of a tool so far, oldest first. At servers, every request counts that was sent there; of tools in
   * TypeScript, every run of `execute`, of an activity (by its own name, with the list of its arguments), and of `run`.
   */
  async calls(tool: string): Promise<Call[]> {
    const log = await this.#log();
    const executions = this.#parts.service.executions.filter(({ turnId }) => turnId === this.id);
    const logged = log.flatMap((event) => {
      if (event.type !== 'tool-input-available' || !isTool(event.toolName, tool)) return [];
      const ended = endOf(log, event.toolCallId);
      const sent = executions.filter(({ toolCallId }) => toolCallId === event.toolCallId);
      const count =
        sent.length > 0 ? mostOfARound(sent.map(({ round }) => round)) : ended?.hasRun === true ? 1 : 0;
      const input = sent[0]?.arguments ?? event.input;
      return Array.from({ length: count }, () => ({ arguments: input, ...ended?.call }));
    });
    const activities = executions.filter(({ toolCallId, name }) => toolCallId === null && name === tool);
    return [...logged, ...activities.map((one) => ({ arguments: one.arguments }))];
  }

  /** What the model got for its last call of the tool. Undefined if it got nothing yet. */
  modelReceived(tool: string): string | undefined {
    return this.#parts.model.asked
      .flatMap(({ results }) => results)
      .findLast((result) => isTool(result.tool, tool))?.text;
  }

  /** What happened, for people. */
  async transcript(): Promise<string> {
    const { person, agent, text } = this.#parts;
    const said = this.#view?.parts ?? [];
    const questions = said.flatMap((part) => (part.kind === 'elicitation' ? part.elicitation : []));
    const lines = [`${person} → ${agent}: ${text}`];
    const log = await this.#log().catch(() => []);
    let words = '';
    for (const event of log) {
      if (event.type === 'text-delta') words += event.delta;
      const by = event.path?.at(-1) ?? agent;
      if (event.type === 'text-end') {
        lines.push(`${by}: ${words}`);
        words = '';
      }
      if (event.type === 'tool-input-available') {
        const calls = await this.calls(event.toolName);
        lines.push(
          `${by} calls ${event.toolName} ${JSON.stringify(event.input)} (executed: ${calls.length})`,
        );
        const ended = endOf(log, event.toolCallId)?.call;
        if (ended) lines.push(`  → ${ended.error ?? JSON.stringify(ended.result)}`);
      }
      if (event.type === 'elicitation-request' && event.status === 'pending') {
        const { message, context, elicitationId } = event;
        const now = questions.find((one) => one.elicitationId === elicitationId);
        const fields = now ? fieldsOf(now).join(', ') : '';
        lines.push(
          `? ${context.toolName ?? context.server ?? by} asks ${person}: ${message}${fields && ` [${fields}]`} → ${now?.status ?? 'pending'}`,
        );
      }
    }
    const { model } = this.#parts;
    const wrong = model.problem ?? this.#view?.errorText;
    lines.push(`The turn: ${this.#view?.status ?? 'not begun'}${wrong === undefined ? '' : ` (${wrong})`}`);
    return lines.join('\n');
  }

  /** An error with the transcript. */
  async failure(message: string): Promise<Error> {
    return new Error(`${message}\n\n${await this.transcript()}\n`);
  }

  /** Resolves with the first result; rejects with the transcript when the turn ends without one, or nothing comes. */
  async until<T>(what: string, read: (view: TurnView) => T | undefined): Promise<T> {
    const { model, timeoutMs, service } = this.#parts;
    const late = AbortSignal.timeout(timeoutMs);
    const isLate = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()));
    for (;;) {
      const changed = this.#wake.promise;
      const found = this.#view && read(this.#view);
      if (found !== undefined) return found;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#view && this.#view.status !== 'running')
        throw await this.failure(model.problem ?? `The turn ended without ${what}.`);
      if (late.aborted) throw await this.failure(`${timeoutMs / 1000} s passed without ${what}.`);
      const crash = await Promise.race([changed, isLate, service.crashed]);
      if (crash) throw await this.failure(crash.message);
    }
  }

  async #follow(conversationId: string): Promise<void> {
    const { client, agent, text } = this.#parts;
    const message = { conversationId, agentId: agent, message: { text } };
    try {
      for await (const view of client.start(message, { signal: this.#left.signal }))
        this.#changed(() => (this.#view = view));
    } catch (error) {
      this.#changed(() => (this.#failure = error));
    }
  }

  #changed(change: () => void): void {
    change();
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  #log(): Promise<LoggedEvent[]> {
    return this.#parts.service.ask<LoggedEvent[]>({ do: 'read log', turn: this.#ref() });
  }

  #ref() {
    return { tenant: this.#parts.tenant, conversation: this.conversation, turnId: this.id };
  }
}

function fieldsOf(request: ElicitationRequest): string[] {
  if (request.mode !== 'form') return [];
  return Object.keys((request.requestedSchema['properties'] as object | undefined) ?? {});
}

function fits(
  request: ElicitationRequest,
  { tool, fields, message, server, trigger }: QuestionMatch,
): boolean {
  const { context } = request;
  if (tool !== undefined && !isTool(tool, context.toolName ?? '') && context.toolName !== tool) return false;
  if (server !== undefined && context.server !== server) return false;
  if (trigger !== undefined && context.trigger !== trigger) return false;
  if (typeof message === 'string' && request.message !== message) return false;
  if (message instanceof RegExp && !message.test(request.message)) return false;
  return fields === undefined || isDeepStrictEqual(fieldsOf(request).toSorted(), [...fields].toSorted());
}

/** A call may need several rounds. A round that was sent twice is a second execution. */
function mostOfARound(rounds: readonly (string | null)[]): number {
  const counts = new Map<string | null, number>();
  for (const round of rounds) counts.set(round, (counts.get(round) ?? 0) + 1);
  return Math.max(...counts.values());
}

/** How a call ended, and whether the tool ran as far as the log says; undefined while it goes on. */
function endOf(
  log: readonly LoggedEvent[],
  id: string,
): { call: Omit<Call, 'arguments'>; hasRun: boolean } | undefined {
  const event = log.find(
    (one) =>
      (one.type === 'tool-output-available' || one.type === 'tool-output-error') && one.toolCallId === id,
  );
  if (event?.type === 'tool-output-available')
    return { call: { result: plainResult(event.output) }, hasRun: true };
  if (event?.type === 'tool-output-error')
    return {
      call: { error: event.errorText },
      hasRun: event.outcome === 'tool_error' || event.outcome === 'unknown' || event.outcome === 'stopped',
    };
  return undefined;
}

/** Of an MCP result: its structured content, or its text. */
function plainResult(output: unknown): unknown {
  const { content, structuredContent } = (output ?? {}) as { content?: unknown; structuredContent?: unknown };
  if (structuredContent !== undefined) return structuredContent;
  if (!Array.isArray(content)) return output;
  return content.map((block: { text?: string }) => block.text ?? '').join('\n');
}
