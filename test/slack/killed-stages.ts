/** The stages of an answer's way into its thread at which the worker is killed, and the fake Slack's part in it. */
import type { Fault } from '../servers/slack/chat.ts';
import type { MethodCall } from '../servers/slack/methods.ts';

export interface Stage {
  name: string;
  channel: string;
  /** `edited`: where Slack does not stream. `cut-off`: the model's words become void as well. */
  kind: 'text' | 'edited' | 'question' | 'cut-off';
  /** The calls that are under way when the worker is killed, first by first, second by second time. */
  holds: Hold[];
  /** Of a question: it is declined before the first kill, and else at the end. */
  isDeclinedEarly: boolean;
}

/** `stuck`: not carried out. `held`: carried out, and its answer is lost. */
type Hold = readonly [method: string, kind: 'stuck' | 'held'];

const start = 'chat.startStream';
const append = 'chat.appendStream';
const stop = 'chat.stopStream';
const post = 'chat.postMessage';
const update = 'chat.update';
const readBack = 'conversations.replies';

const listed: [kind: Stage['kind'], holds: Hold[], isDeclinedEarly?: boolean][] = [
  ['text', [[start, 'stuck']]],
  ['text', [[start, 'held']]],
  ['text', [[append, 'stuck']]],
  ['text', [[append, 'held']]],
  ['text', [[stop, 'stuck']]],
  ['text', [[stop, 'held']]],
  [
    'text',
    [
      [start, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  [
    'text',
    [
      [start, 'held'],
      [stop, 'held'],
      [update, 'stuck'],
    ],
  ],
  [
    'text',
    [
      [append, 'held'],
      [stop, 'stuck'],
      [stop, 'held'],
    ],
  ],
  [
    'text',
    [
      [append, 'stuck'],
      [update, 'held'],
    ],
  ],
  [
    'text',
    [
      [start, 'stuck'],
      [readBack, 'stuck'],
      [post, 'held'],
    ],
  ],
  ['edited', [[post, 'stuck']]],
  ['edited', [[post, 'held']]],
  ['edited', [[update, 'stuck']]],
  ['edited', [[update, 'held']]],
  [
    'edited',
    [
      [post, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  ['question', [[stop, 'held']]],
  ['question', [[post, 'stuck']]],
  ['question', [[post, 'held']]],
  [
    'question',
    [
      [post, 'held'],
      [readBack, 'held'],
      [update, 'held'],
    ],
  ],
  ['question', []],
  ['question', [[update, 'stuck']], true],
  ['question', [[update, 'held']], true],
  ['cut-off', []],
];

export const stages: Stage[] = listed.map(([kind, holds, isDeclinedEarly = false], index) => ({
  name: [kind, isDeclinedEarly ? 'declined' : '', ...holds.map(([method, how]) => `${method} ${how}`)]
    .filter((word) => word !== '')
    .join(', '),
  channel: `C${100 + index}`,
  kind,
  holds,
  isDeclinedEarly,
}));

export function createStages() {
  let round = 0;
  let killed = Promise.withResolvers<void>();
  /** The stages of which a call is held until the next kill. */
  const atHold = new Set<Stage>();
  const begun = new Map(stages.map((stage) => [stage, Promise.withResolvers<void>()]));
  return {
    rounds: Math.max(...stages.map(({ holds }) => holds.length)),
    /** Resolves when Slack is first called for its words. */
    begun: (stage: Stage) => begun.get(stage)?.promise,
    faultOf({ method, args }: MethodCall): Fault | undefined {
      const stage = stages.find(({ channel }) => channel === args['channel']);
      if (!stage) return undefined;
      if (method === start || method === post) begun.get(stage)?.resolve();
      // What is tried again while the worker lives comes to nothing.
      if (atHold.has(stage)) return { kind: 'stuck', until: killed.promise };
      const [held, how] = stage.holds[round] ?? [];
      if (method === held && how) {
        atHold.add(stage);
        return { kind: how, until: killed.promise };
      }
      const isStream = method === start && stage.kind === 'edited';
      return isStream ? { kind: 'refused', code: 'channel_type_not_supported' } : undefined;
    },
    /** The stages of which a call is still to be held before the next kill. */
    notYetHeld: () =>
      stages.filter((stage) => stage.holds[round] && !atHold.has(stage)).map(({ name }) => name),
    /** The worker is dead: what waits for its answers waits for nothing, and the next round begins. */
    nextRound(): void {
      round += 1;
      atHold.clear();
      killed.resolve();
      killed = Promise.withResolvers();
    },
  };
}
