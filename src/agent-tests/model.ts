/** The model of a turn in a test: a script of steps, a recording of a real model's steps, or the model of the agents file. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Move } from '../models/scripted/script.ts';
import type { StepAsked, StepReply } from './protocol.ts';

/** What a step knows when it is a function. */
export type Received = Pick<StepAsked, 'message' | 'tools' | 'results'>;

type Fixed = Move | readonly Move[];
/** One answer of the model: text, calls of tools (made in parallel), or both. */
export type Step = Fixed | ((received: Received) => Fixed);

export interface Script {
  kind: 'script';
  steps: readonly Step[];
}

export interface Recording {
  kind: 'recording';
  file: string;
}

/** `configured`: the model that the agents file names, with its key. */
export type OneModel = Script | Recording | 'configured';

/** One for the agent of the turn, or one for each agent by its name. */
export type Model = OneModel | Readonly<Record<string, OneModel>>;

/** The steps of one agent in one turn, or in one task as a delegate. More, fewer or other steps fail the test. */
export function script(...steps: Step[]): Script {
  return { kind: 'script', steps };
}

export function says(text: string): Move {
  return { say: text };
}

/** `tool`: as the model sees it, or without the name of its server. */
export function callsTool(tool: string, input: Record<string, unknown> = {}): Move {
  return { calls: [{ tool, input }] };
}

export function asksAgent(agent: string, task: string): Move {
  return callsTool(`agent__${agent}`, { task });
}

/** Replays the file; without it, asks the configured model and writes the file when the turn is over. Commit it. */
export function recorded(file: string): Recording {
  return { kind: 'recording', file };
}

interface RecordedStep extends Pick<StepAsked, 'agent' | 'number' | 'message' | 'results'> {
  move: Move;
}

/** The model of one turn, with what it was asked. */
export class TurnModel {
  readonly asked: StepAsked[] = [];
  /** Why it could not go on. */
  problem: string | undefined;

  readonly #agent: string;
  readonly #models: Readonly<Record<string, OneModel>>;
  readonly #recording = new Map<string, { steps: RecordedStep[]; isNew: boolean }>();

  /** `agent`: of the turn. */
  constructor(agent: string, model: Model | undefined) {
    this.#agent = agent;
    const isOne = model === 'configured' || (model !== undefined && 'kind' in model);
    this.#models = isOne ? { [agent]: model as OneModel } : (model ?? {});
  }

  reply(step: StepAsked): StepReply {
    this.asked.push(step);
    try {
      return this.#next(step);
    } catch (error) {
      this.problem ??= error instanceof Error ? error.message : String(error);
      return { kind: 'error', message: this.problem };
    }
  }

  #next(step: StepAsked): StepReply {
    const model = this.#models[step.agent];
    if (model === undefined)
      throw new Error(
        `The test gives ${step.agent} no model. Pass one to send(): ${step.agent === this.#agent ? '' : 'an object with one for each agent, '}script(…), recorded(…) or 'configured'.`,
      );
    if (model === 'configured') return { kind: 'configured' };
    return model.kind === 'script' ? nextOf(model, step) : this.#recorded(model, step);
  }

  #recorded({ file }: Recording, step: StepAsked): StepReply {
    const recording = this.#read(file);
    if (recording.isNew) return { kind: 'configured' };
    const found = recording.steps.find((one) => isSameStep(one, step));
    if (found) return { kind: 'move', move: found.move };
    throw new Error(
      `${file} has no step ${step.number + 1} of ${step.agent} that received this: ${JSON.stringify({ message: step.message, results: step.results })}. Delete the file to record it again.`,
    );
  }

  #read(file: string) {
    const known = this.#recording.get(file);
    if (known) return known;
    const isNew = !existsSync(file);
    const { steps } = isNew
      ? { steps: [] }
      : (JSON.parse(readFileSync(file, 'utf8')) as { steps: RecordedStep[] });
    const recording = { steps, isNew };
    this.#recording.set(file, recording);
    return recording;
  }

  /** The configured model's step. */
  note({ agent, number, message, results }: StepAsked, move: Move): void {
    const model = this.#models[agent];
    if (model === undefined || model === 'configured' || model.kind !== 'recording') return;
    const { steps } = this.#read(model.file);
    steps.push({ agent, number, message, results, move });
  }

  /** After the turn. Throws if steps are left, and writes new recordings. */
  finish(): void {
    for (const [file, { steps, isNew }] of this.#recording) {
      const unused = isNew ? [] : steps.filter((one) => !this.asked.some((step) => isSameStep(one, step)));
      if (unused.length > 0)
        throw new Error(`${file} has steps that the turn did not take: ${JSON.stringify(unused)}`);
      if (!isNew) continue;
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify({ steps }, null, 2)}\n`);
    }
    for (const [agent, model] of Object.entries(this.#models)) {
      if (model === 'configured' || model.kind !== 'script') continue;
      const taken = this.asked.filter((step) => step.agent === agent);
      const unused = model.steps.filter((_, number) => !taken.some((step) => step.number === number));
      if (unused.length === 0) continue;
      const words = unused.map((step) => (typeof step === 'function' ? 'a function' : JSON.stringify(step)));
      throw new Error(`The script of ${agent} has steps that the turn did not take: ${words.join(', ')}`);
    }
  }
}

function isSameStep(recorded: Omit<RecordedStep, 'move'>, step: StepAsked): boolean {
  const { agent, number, message, results } = step;
  const { agent: by, number: at, message: to, results: after } = recorded;
  return isDeepStrictEqual([by, at, to, after], [agent, number, message, results]);
}

function nextOf({ steps }: Script, asked: StepAsked): StepReply {
  const { agent, number, tools } = asked;
  const step = steps[number];
  if (step === undefined)
    throw new Error(
      `The script of ${agent} has no step ${number + 1}. The model received: ${JSON.stringify(asked.results)}`,
    );
  const moves = [typeof step === 'function' ? step(asked) : step].flat() as Move[];
  const say = moves.map((move) => move.say ?? '').join('');
  const calls = moves
    .flatMap((move) => move.calls ?? [])
    .map(({ tool, input = {} }) => ({ tool: offered(tool, tools, agent), input }));
  return { kind: 'move', move: { ...(say !== '' && { say }), ...(calls.length > 0 && { calls }) } };
}

function offered(name: string, tools: readonly string[], agent: string): string {
  const found = tools.filter((tool) => isTool(tool, name));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.includes(name)) return name;
  const why = found.length === 0 ? `and ${agent} has` : 'and several servers have it';
  throw new Error(`The script calls the tool "${name}", ${why}: ${tools.join(', ') || 'no tools'}`);
}

/** Whether a tool that the model sees under `seen` has this name, with or without that of its server. */
export function isTool(seen: string, name: string): boolean {
  return seen === name || seen.endsWith(`__${name}`);
}
