import { useEffect, useState } from 'react';
import type { Words } from './words.ts';

/** For the eye: a screen reader is told when it is over, not every second. */
export function Countdown({ until, words }: { until: string; words: Words }) {
  const [left, setLeft] = useState(() => secondsUntil(until));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until)), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <time className="countdown" dir="auto" dateTime={until} data-soon={left < 60}>
      {words.timeLeft(Math.floor(left / 60), left % 60)}
    </time>
  );
}

function secondsUntil(until: string): number {
  return Math.max(0, Math.round((Date.parse(until) - Date.now()) / 1_000));
}
