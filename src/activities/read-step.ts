import type { TurnLog } from '../storage/storage.ts';
import type { Turn } from '../turn/turn.ts';

interface StepSoFar {
  /** Something of the step is in the log that no `reset-step` has made void. */
  begun: boolean;
  /** How it ended, when that was not the model's own end. */
  finish: 'length' | 'refused' | undefined;
}

/** What the log says about a step. Read only after something went wrong: it walks through the whole turn. */
export async function readStep(turnLog: TurnLog, turn: Turn, step: number): Promise<StepSoFar> {
  const soFar: StepSoFar = { begun: false, finish: undefined };
  let after = await turnLog.startOf(turn);
  while (after !== null) {
    const entries = await turnLog.read(turn, after);
    for (const { turnId, event } of entries) {
      if (turnId !== turn.turnId || event.parentToolCallId !== turn.delegation?.toolCallId) continue;
      if (!('step' in event) || event.step !== step) continue;
      if (event.type === 'finish-step') soFar.finish = event.finish;
      else soFar.begun = event.type === 'start-step';
    }
    after = entries.at(-1)?.seq ?? null;
  }
  return soFar;
}
