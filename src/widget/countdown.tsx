import { useEffect, useState } from 'react';
import type { Words } from './words.ts';

interface Props {
  until: string;
  /** By the service's clock: theirs may be wrong. */
  now: () => number;
  words: Words;
}

/** For whoever looks: in a conversation that is read out, every second would be. */
export function Countdown({ until, now, words }: Props) {
  const [left, setLeft] = useState(() => secondsUntil(until, now));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until, now)), 1_000);
    return () => clearInterval(timer);
  }, [until, now]);
  return (
    <span className="countdown" role="timer" aria-live="off" dir="auto" data-soon={left < 60}>
      {words.timeLeft(Math.floor(left / 60), left % 60)}
    </span>
  );
}

function secondsUntil(until: string, now: () => number): number {
  return Math.max(0, Math.round((Date.parse(until) - now()) / 1_000));
}
