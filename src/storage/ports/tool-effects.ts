import type { TurnRef } from '../../turn/turn.ts';

/** One call of an author's activity, by the tool's workflow and the number of the call in it. */
export interface EffectRef {
  workflowId: string;
  activityId: string;
}

/** `claimed`: by this very call. `sealed`: what came of it; null when that was forgotten with the end of its tool. */
export type EffectClaim = { kind: 'claimed' | 'started' } | { kind: 'finished'; sealed: string | null };

/** What authors' activities have done, so that none has its effect twice. */
export interface ToolEffects {
  /**
   * `started`: an earlier attempt has begun and did not say what became of it. A new effect of a turn that is over is refused
   * (`WriteRefused`).
   */
  claim(effect: EffectRef, of: { turn: TurnRef; name: string }): Promise<EffectClaim>;
  /** `started` → `finished`. The first result counts. */
  finish(effect: EffectRef, sealed: string): Promise<boolean>;
  /** Of a tool that has ended: that they have happened is kept, what came of them is not. */
  forgetResults(workflowId: string): Promise<void>;
}
