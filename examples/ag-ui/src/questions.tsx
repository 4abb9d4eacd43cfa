/** The open questions of a thread, answered together: a run takes no answers before all open interrupts have one. */
import { useContext, useEffect, useRef, useState } from 'react';
import type { Answer, Interrupt, ResumeEntry } from './interlude.ts';
import { QuestionCard } from './question-card.tsx';
import { isOpened, RunContext } from './use-run.ts';

interface Props {
  interrupts: readonly Interrupt[];
  onAnswers(entries: ResumeEntry[]): void;
}

export function Questions({ interrupts, onAnswers }: Props) {
  const { given, give } = useContext(RunContext);
  const top = useRef<HTMLDivElement>(null);
  const sent = useRef<readonly Interrupt[]>(null);
  const [answers, setAnswers] = useState(new Map<string, Answer>());

  useEffect(() => {
    const entries = interrupts.flatMap(({ id }): ResumeEntry[] => {
      const before = given.get(id);
      // A run that has lost its stream ends with a link again that is opened already.
      const answer = answers.get(id) ?? (before && isOpened(before) ? before.answer : undefined);
      return answer ? [{ interruptId: id, ...answer }] : [];
    });
    if (sent.current === interrupts || interrupts.length === 0 || entries.length < interrupts.length) return;
    sent.current = interrupts;
    setAnswers(new Map());
    onAnswers(entries);
  }, [answers, interrupts]);

  useEffect(() => {
    if (interrupts.length > 0) top.current?.scrollIntoView();
  }, [interrupts]);

  return (
    <div ref={top}>
      {interrupts.map((interrupt) => (
        <QuestionCard
          key={interrupt.id}
          interrupt={interrupt}
          isAnswered={answers.has(interrupt.id)}
          onAnswer={(answer) => {
            setAnswers((before) => new Map(before).set(interrupt.id, answer));
            give(interrupt, answer);
          }}
        />
      ))}
    </div>
  );
}
