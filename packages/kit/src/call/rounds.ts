/** The rounds of one call: the sources answer each, and answered ones are kept. */
import type { InputRequired, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import { collectAnswers } from '../answers/answer-from.ts';
import type { Collected } from '../answers/answer-from.ts';
import { toQuestion } from '../answers/source.ts';
import type { AnswerSource, Question } from '../answers/source.ts';
import type { ToolToCall } from './any-client.ts';
import type { AnsweredRound, CallEvent } from './call-events.ts';

/** Delays a server that only wants to be called again. */
const emptyRoundMs = 250;

interface RoundsParts {
  tool: ToolToCall;
  /** The server's name. */
  server: string | undefined;
  sources: readonly AnswerSource[];
  most: number;
  emit(event: CallEvent): void;
}

export class Rounds {
  readonly answered: AnsweredRound[] = [];
  readonly #parts: RoundsParts;
  #count = 0;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
  }

  /** `pause`: in the new era, where a round is a result. */
  async ask(
    asked: readonly ServerQuestion[],
    pause: InputRequired | undefined,
    signal: AbortSignal,
  ): Promise<Collected> {
    const { tool, server, sources, most, emit } = this.#parts;
    const round = ++this.#count;
    const questions = asked.map(toQuestion);
    if (round > most) return tooMany(tool.name, most, questions);
    if (questions.length === 0) await new Promise((resolve) => setTimeout(resolve, emptyRoundMs));
    else emit({ type: 'asked', round, questions });
    const requestState = pause?.resume.kind === 'retry' ? pause.resume.requestState : undefined;
    const given = {
      tool: tool.name,
      arguments: tool.arguments ?? {},
      round,
      questions,
      ...(requestState !== undefined && { requestState }),
      ...(server !== undefined && { server }),
    };
    const collected = await collectAnswers(sources, given, { signal });
    if (collected.kind === 'answers' && questions.length > 0) {
      const one = { round, questions, answers: collected.answers };
      this.answered.push(one);
      emit({ type: 'answered', ...one });
    }
    return collected;
  }
}

function tooMany(tool: string, most: number, questions: Question[]): Collected {
  const reason = `${tool} asks more than ${most} times. A server that is meant to needs a higher limit of rounds.`;
  return { kind: 'unanswered', reason, questions };
}
