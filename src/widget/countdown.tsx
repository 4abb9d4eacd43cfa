import { useEffect, useState } from 'react';
import type { Words } from './words.ts';

/** For whoever looks: in a conversation that is read out, every second would be. */
export function Countdown({ until, words }: { until: string; words: Words }) {
  const [left, setLeft] = useState(() => secondsUntil(until));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until)), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <span className="countdown" role="timer" aria-live="off" dir="auto" data-soon={left < 60}>
      {words.timeLeft(Math.floor(left / 60), left % 60)}
    </span>
  );
}

function secondsUntil(until: string): number {
  return Math.max(0, Math.round((Date.parse(until) - Date.now()) / 1_000));
}
