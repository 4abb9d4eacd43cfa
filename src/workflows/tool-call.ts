/** One tool call, from the model's wish to a result the model can read, with as many questions as it takes. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { ServerCall } from '../activities/keep-step.ts';
import type { Refusal } from '../elicitation/wording.ts';
import { callTool, refuseToolCall } from './activities.ts';
import type { Connect } from './connect.ts';
import type { TurnInput } from './messages.ts';

/** How a call gets its user asked; outcomes are written beside the call that goes on because of them. */
export interface Asking {
  connect: Connect;
  writeOutcomes(): void;
}

/** A server that refuses a fresh connection twice will not be helped by a third one. */
const maxConnects = 2;

export async function runToolCall(
  turn: TurnInput,
  call: ServerCall,
  { connect, writeOutcomes }: Asking,
): Promise<void> {
  const { toolName: summary, toolCallId, server, tool } = call;
  const refuse = (refusal: Refusal) =>
    refuseToolCall.executeWithOptions({ summary: `${summary}: ${refusal}` }, [
      { turn, toolCallId, server, refusal },
    ]);
  for (let round = 0; ; round++) {
    const calling = orNull(
      callTool.executeWithOptions({ summary }, [{ turn, toolCallId, server, tool, round }]),
    );
    writeOutcomes();
    const outcome = await calling;
    if (outcome === null) return refuse('failed');
    if (outcome.kind === 'finished') return;
    if (round === maxConnects) return refuse('still-refused');
    const answer = await connect(outcome, outcome.user);
    if (answer === 'accept') continue;
    // Nobody waits for this one, so the story is told in its order: the answer, then what the tool made of it.
    writeOutcomes();
    return refuse(answer);
  }
}

/** An activity that gave up is the tool's failure, not the turn's: the model is told and can go on. */
async function orNull<T>(running: Promise<T>): Promise<T | null> {
  try {
    return await running;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
