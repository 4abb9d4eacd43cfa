/** For readers who drop everything since `start-step` at a `reset-step`. Pure. */
import type { UIMessageChunk } from 'ai';
import type { TurnEvent } from '../../turn/event.ts';

/** What an agent says and does. */
export type Speech = (event: TurnEvent) => UIMessageChunk[];

/**
 * Each repetition is told to everybody within its step, to those, too, who come when what it made void is gone: they
 * may have seen that before, on another connection.
 */
export function withResets(toSpeech: Speech): Speech {
  const resetStep: UIMessageChunk = { type: 'reset-step' };
  let step: number | undefined;
  let untold: UIMessageChunk[] = [];

  return (event) => {
    const chunks = toSpeech(event);
    switch (event.type) {
      case 'start-step': {
        // Its start stays when it is reset.
        if (step === event.step) return [];
        const resets = untold;
        untold = [];
        ({ step } = event);
        return [...chunks, ...resets];
      }
      case 'reset-step':
        if (step === event.step) return [resetStep];
        untold.push(resetStep);
        return [];
      case 'finish-step':
        step = undefined;
        return chunks;
      default:
        return chunks;
    }
  };
}

/** A reset takes the data of the step along, which is as true as before: it is said once more. */
export function createStepData(): (chunk: UIMessageChunk) => UIMessageChunk[] {
  const data = new Map<string, UIMessageChunk>();
  return (chunk) => {
    if (chunk.type === 'start-step') data.clear();
    else if (chunk.type === 'reset-step') return [chunk, ...data.values()];
    else if (chunk.type.startsWith('data-') && 'id' in chunk) data.set(`${chunk.type} ${chunk.id}`, chunk);
    return [chunk];
  };
}
