/** What both pages look the same in. */
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { stop } from './interlude.ts';
import { OpenedLink } from './question-card.tsx';
import { isOpened, RunContext } from './use-run.ts';
import type { Run } from './use-run.ts';

const suggestions = [
  'List my open issues in Tracker.',
  'Book a trip to Lisbon.',
  'Pay the deposit.',
  'Close #2.',
];

interface Props {
  /** Messages, then questions. */
  children: ReactNode;
  isEmpty: boolean;
  isRunning: boolean;
  run: Run;
  onSend(text: string): void;
}

export function Conversation({ children, isEmpty, isRunning, run, onSend }: Props) {
  const [text, setText] = useState('');
  const { failure, notices, settled } = run;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isRunning || text.trim() === '') return;
    setText('');
    run.forgetNotices();
    onSend(text);
  }
  return (
    <RunContext value={run}>
      <div className="log" role="log" aria-label="Conversation" tabIndex={0}>
        <div>
          {children}
          {isRunning &&
            [...run.given.values()]
              .filter((given) => isOpened(given) && !settled.has(given.interrupt.id))
              .map(({ interrupt }) => <OpenedLink key={interrupt.id} interrupt={interrupt} />)}
          {isEmpty && !isRunning && (
            <div className="suggestions">
              {suggestions.map((suggestion) => (
                <button key={suggestion} onClick={() => onSend(suggestion)}>
                  {suggestion}
                </button>
              ))}
            </div>
          )}
          {notices.map((notice, index) => (
            <p key={index} className="notice">
              {notice}
            </p>
          ))}
          {failure && <p role="alert">{failure}</p>}
        </div>
      </div>
      <form className="composer" onSubmit={submit}>
        <input
          aria-label="Message"
          placeholder="Write a message"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {isRunning ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button className="primary">Send</button>
        )}
      </form>
    </RunContext>
  );
}

/** Agents write Markdown. A product shows all of it, this example what is bold. */
export function Text({ text }: { text: string }) {
  const parts = text.split('**');
  return <p>{parts.map((part, index) => (index % 2 === 1 ? <strong key={index}>{part}</strong> : part))}</p>;
}

export function ToolCall({ name, isDone }: { name: string; isDone: boolean }) {
  return (
    <small className="call">
      {name.replace('__', ' · ').replaceAll('_', ' ')} {isDone ? '✓' : '…'}
    </small>
  );
}
