/** The rounds of one call: what is asked in each goes to the sources, and every answered one is kept. */
import type { InputRequired, ServerQuestion } from '../../remote/input-required.ts';
import type { Collected } from '../answers/collect-answers.ts';
import { collectAnswers } from '../answers/collect-answers.ts';
import { toQuestion } from '../answers/source.ts';
import type { AnswerSource, Question } from '../answers/source.ts';
import type { ToolToCall } from './any-client.ts';
import type { AnsweredRound, CallEvent } from './call-events.ts';

interface Parts {
  tool: ToolToCall;
  /** As the server names itself. */
  server: string | undefined;
  sources: readonly AnswerSource[];
  most: number;
  emit(event: CallEvent): void;
}

export interface Rounds {
  answered: AnsweredRound[];
  /** `pause`: of the new era, where a round is a result. */
  ask(
    asked: readonly ServerQuestion[],
    pause: InputRequired | undefined,
    signal: AbortSignal,
  ): Promise<Collected>;
}

/** A server that wants nothing but to be called again is not called in a tight loop. */
const emptyRoundMs = 250;

export function createRounds({ tool, server, sources, most, emit }: Parts): Rounds {
  const { name, arguments: input = {} } = tool;
  const answered: AnsweredRound[] = [];
  let count = 0;
  return {
    answered,
    async ask(asked, pause, signal) {
      const round = ++count;
      const questions = asked.map(toQuestion);
      if (round > most) return tooMany(name, most, questions);
      if (questions.length === 0) await new Promise((resolve) => setTimeout(resolve, emptyRoundMs));
      else emit({ type: 'asked', round, questions });
      const requestState = pause?.resume.kind === 'retry' ? pause.resume.requestState : undefined;
      const collected = await collectAnswers(
        sources,
        {
          tool: name,
          arguments: input,
          round,
          questions,
          ...(requestState !== undefined && { requestState }),
          ...(server !== undefined && { server }),
        },
        { signal },
      );
      if (collected.kind === 'answers' && questions.length > 0) {
        const one = { round, questions, answers: collected.answers };
        answered.push(one);
        emit({ type: 'answered', ...one });
      }
      return collected;
    },
  };
}

function tooMany(tool: string, most: number, questions: Question[]): Collected {
  const reason = `${tool} asks more than ${most} times. A server that is meant to needs a higher limit of rounds.`;
  return { kind: 'unanswered', reason, questions };
}
