/**
 * Wraps every activity of an author, so that it has its effect once. A row is claimed before the activity runs, and stores
 * its result. A later attempt gets that result; if there is none, it repeats only what the author declares idempotent and
 * reports the rest as unknown.
 *
 * Errors of authors' code are returned as values, so that their text never gets into a failure.
 */
import { activityInfo } from '@temporalio/activity';
import { openEffect, sealEffect } from '../../credentials/sealing/sealed-values.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { EffectRef } from '../../storage/tables/tool-effects.ts';
import type { Storage } from '../../storage/storage.ts';
import { traceEffect } from '../../platform/telemetry/traces/agent-spans.ts';
import { currentPhase } from '../../platform/telemetry/traces/turn-spans.ts';
import { whileHeartbeating, stopped, withStopSignal, withinTime } from '../running-activity.ts';
import { keepTrying } from '../tool-results.ts';
import type { DurableCallRef } from './durable-calls.ts';
import { thrownText } from '../../turn/tool-code.ts';

export type EffectResult =
  | { kind: 'done'; value?: unknown }
  /** It threw this error. */
  | { kind: 'failed'; name: string; message: string }
  | { kind: 'unknown'; reason: string };

export interface EffectCall {
  call: DurableCallRef;
  /** Counts the calls of the tool's workflow. (Temporal's id of a local activity differs between attempts.) */
  effectId: string;
  args: unknown[];
  timeoutMs: number;
  isIdempotent: boolean;
}

export type AuthorActivity = (...args: unknown[]) => unknown;

interface Dependencies {
  storage: Storage;
  keys: KeyRing;
}

const longestJson = 400_000;
const longestMessage = 4_000;

export function createEffect(
  { storage, keys }: Dependencies,
  name: string,
  activity: AuthorActivity,
): (input: EffectCall) => Promise<EffectResult> {
  return (input) =>
    whileHeartbeating(() => {
      const { turn } = input.call;
      const phase = currentPhase({ storage }, turn);
      return withStopSignal(storage.turns, turn, () =>
        traceEffect(phase, input.call, name, () => runOnce(input)),
      );
    });

  async function runOnce(input: EffectCall): Promise<EffectResult> {
    const { call, effectId, args, timeoutMs, isIdempotent } = input;
    const { workflowId = '' } = activityInfo().workflowExecution ?? {};
    const effect = { workflowId, activityId: effectId };
    const claim = await storage.toolEffects.claim(effect, { turn: call.turn, name });
    switch (claim.kind) {
      case 'finished':
        return claim.sealed === null
          ? unknown('it has run before, and its result is gone.')
          : opened(effect, claim.sealed);
      case 'started':
        if (!isIdempotent)
          return unknown('it had begun, its result was not stored, and it was not repeated.');
        return keep(effect, await outcomeOf(args, timeoutMs));
      case 'claimed':
        return keep(effect, await outcomeOf(args, timeoutMs));
      default:
        return claim satisfies never;
    }
  }

  async function outcomeOf(args: unknown[], timeoutMs: number): Promise<EffectResult> {
    const outcome = await withinTime(run(args), timeoutMs);
    if (outcome === 'stopped') return stopped();
    if (outcome === 'time-out')
      return unknown(`it did not end within ${timeoutMs / 1000} seconds, and may still have its effect.`);
    return outcome;
  }

  async function run(args: unknown[]): Promise<EffectResult> {
    try {
      const value = await activity(...args);
      if (value === undefined) return { kind: 'done' };
      const json = JSON.stringify(value) as string | undefined;
      if (json === undefined)
        return failed(
          new TypeError(`${name} has run, but its result is a ${typeof value}, which is no JSON.`),
        );
      if (json.length > longestJson)
        return failed(
          new RangeError(
            `${name} has run, but its result is too large (more than ${longestJson / 1000} kB of JSON).`,
          ),
        );
      return { kind: 'done', value: JSON.parse(json) as unknown };
    } catch (error) {
      return failed(error);
    }
  }

  async function keep(effect: EffectRef, result: EffectResult): Promise<EffectResult> {
    const sealed = sealEffect(keys, effect, JSON.stringify(result));
    await keepTrying(() => storage.toolEffects.finish(effect, sealed));
    return result;
  }

  function opened(effect: EffectRef, sealed: string): EffectResult {
    return JSON.parse(openEffect(keys, effect, sealed)) as EffectResult;
  }
}

function unknown(reason: string): EffectResult {
  return { kind: 'unknown', reason };
}

function failed(error: unknown): EffectResult {
  const name = error instanceof Error ? String(error.name) : 'Error';
  return { kind: 'failed', name, message: thrownText(error).slice(0, longestMessage) };
}
