/** The open questions of a thread, answered together: a run takes no answers before all open interrupts have one. */
import { useContext, useEffect, useRef, useState } from 'react';
import type { Answer, Interrupt, ResumeEntry } from './interlude.ts';
import { QuestionCard } from './question-card.tsx';
import { RunContext, wasOpened } from './use-run.ts';

interface Props {
  interrupts: readonly Interrupt[];
  onAnswers(entries: ResumeEntry[]): void;
}

export function Questions({ interrupts, onAnswers }: Props) {
  const { give } = useContext(RunContext);
  const top = useRef<HTMLDivElement>(null);
  const sent = useRef<readonly Interrupt[]>(null);
  const [answers, setAnswers] = useState(new Map<string, Answer>());

  useEffect(() => {
    const entries = interrupts.flatMap((interrupt): ResumeEntry[] => {
      const { id } = interrupt;
      let answer = answers.get(id);
      // After a lost stream or a reload, a run ends again with a link that is opened already.
      if (!answer && wasOpened(interrupt)) give(interrupt, (answer = { status: 'resolved' }));
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
          // No other answer is taken now. The service says how the question has ended.
          onExpired={() => setAnswers((before) => new Map(before).set(interrupt.id, { status: 'cancelled' }))}
        />
      ))}
    </div>
  );
}
