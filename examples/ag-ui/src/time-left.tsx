/** How long a question still waits. */
import { useContext, useEffect, useState } from 'react';
import { questionOf } from './interlude.ts';
import type { Interrupt } from './interlude.ts';
import { RunContext } from './use-run.ts';

/** In milliseconds, by the service's clock. */
export function useTimeLeft(interrupt: Interrupt): number {
  const { ahead } = useContext(RunContext);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return Date.parse(questionOf(interrupt).expiresAt) + ahead - now;
}

const hour = 3_600_000;

export function TimeLeft({ left }: { left: number }) {
  return <small role="timer">{left > hour ? `Answer by ${timeIn(left)}` : `${minutesOf(left)} left`}</small>;
}

function timeIn(left: number): string {
  const date = left > 12 * hour ? ({ dateStyle: 'medium' } as const) : {};
  return new Intl.DateTimeFormat(undefined, { ...date, timeStyle: 'short' }).format(Date.now() + left);
}

function minutesOf(left: number): string {
  const seconds = Math.max(0, Math.ceil(left / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
