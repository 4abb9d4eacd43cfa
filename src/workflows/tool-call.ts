/** One tool call, from the model's wish to a result the model can read, with as many questions as it takes. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { Refusal } from '../elicitation/wording.ts';
import { callTool, refuseToolCall } from './activities.ts';
import type { Connect } from './connect.ts';
import type { TurnInput } from './messages.ts';

export interface RequestedToolCall {
  toolCallId: string;
  toolName: string;
  server: string;
  tool: string | null;
}

/** A server that refuses a fresh connection twice will not be helped by a third one. */
const maxConnects = 2;

export async function runToolCall(turn: TurnInput, call: RequestedToolCall, connect: Connect): Promise<void> {
  const { toolName: summary, toolCallId, server, tool } = call;
  const refuse = (refusal: Refusal) =>
    refuseToolCall.executeWithOptions({ summary: `${summary}: ${refusal}` }, [
      { turn, toolCallId, server, refusal },
    ]);
  for (let round = 0; ; round++) {
    const outcome = await orNull(
      callTool.executeWithOptions({ summary }, [{ turn, toolCallId, server, tool, round }]),
    );
    if (outcome === null) return refuse('failed');
    if (outcome.kind === 'finished') return;
    if (round === maxConnects) return refuse('still-refused');
    const answer = await connect(outcome, outcome.user);
    if (answer !== 'accept') return refuse(answer);
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
