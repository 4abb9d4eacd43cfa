/** A step of a turn that is a direct call: what a model would have said, who asked for just this call and then for nothing more. */
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { TurnEvent } from '../../turn/event.ts';
import { directCallId, directCallIn } from '../../turn/direct-call.ts';
import type { DirectCall } from '../../turn/direct-call.ts';
import { keyOfOutput } from '../../turn/step-keys.ts';
import type { Done, Step } from './store-step.ts';

/** Null where a model is to be asked. Delegated agents always have a task in words. */
export function directCallOf({ turn, messages }: Pick<Step, 'turn' | 'messages'>): DirectCall | null {
  if (turn.delegation) return null;
  const said = messages.findLast(({ role }) => role === 'user');
  return said ? directCallIn(said.content) : null;
}

export function makeDirectCall(
  { turn, step, attempt, tools }: Step,
  { tool, input }: DirectCall,
): { done: Done; events: NewEvent[] } {
  const begun: TurnEvent = { type: 'start-step', step };
  const events = [{ key: keyOfOutput(step, attempt, 0), event: begun }];
  const usage = { inputTokens: 0, outputTokens: 0 };
  if (step > 0)
    return { done: { type: 'done', finish: 'stop', usage, content: [], mistakes: new Map() }, events };
  const toolCallId = directCallId(turn.turnId);
  const isThere = tools.some((one) => 'bundle' in one && one.modelName === tool);
  const gone = `There is no tool ${tool} any more.`;
  return {
    done: {
      type: 'done',
      finish: 'tool-calls',
      usage,
      content: [{ type: 'tool-call', toolCallId, toolName: tool, input }],
      mistakes: new Map(isThere ? [] : [[toolCallId, gone]]),
    },
    events,
  };
}
