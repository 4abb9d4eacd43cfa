import { useMemo, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { readRequestedSchema } from '../elicitation/requested-schema.ts';
import { FormField } from './form-field.tsx';
import { contentOf, emptyDraft, problemsFrom, problemsIn } from './form-draft.ts';
import type { Entry, Problems } from './form-draft.ts';
import type { CardProps } from './question-card.tsx';

export function FormQuestion({
  question,
  schema,
  answering,
  words,
}: CardProps & { schema: Record<string, unknown> }) {
  const read = useMemo(() => readRequestedSchema(schema), [schema]);
  const fields = read.kind === 'form' ? read.fields : [];
  const [draft, setDraft] = useState(() => emptyDraft(fields));
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { elicitationId } = question;

  function change(name: string, entry: Entry) {
    setDraft((before) => ({ ...before, [name]: entry }));
    setProblems(({ [name]: _, ...others }) => others);
  }

  function show(found: Problems) {
    setProblems(found);
    const first = fields.find(({ name }) => found[name] !== undefined);
    // After the messages are there, so that they are read with the field.
    requestAnimationFrame(() => {
      const inputs = form.current?.querySelectorAll<HTMLElement>('[name]') ?? [];
      for (const input of inputs) if (input.getAttribute('name') === first?.name) return input.focus();
    });
  }

  async function send(event: FormEvent) {
    event.preventDefault();
    if (isSending) return;
    const found = problemsIn(fields, draft, words);
    if (Object.keys(found).length > 0) return show(found);
    await answer({ action: 'accept', content: contentOf(fields, draft) });
  }

  async function answer(decision: Parameters<typeof answering>[1]) {
    if (isSending) return;
    setSending(true);
    setFailure(null);
    try {
      const reception = await answering(elicitationId, decision);
      if (reception.kind === 'settled') return;
      const found = problemsFrom(reception.errors, fields);
      if (found) show(found);
      else setFailure(reception.detail);
    } catch {
      setFailure(words.answerFailed);
    }
    setSending(false);
  }

  const count = Object.keys(problems).length;
  const isApproval = fields.length === 0;
  return (
    <form ref={form} noValidate onSubmit={(event) => void send(event)} aria-busy={isSending}>
      {fields.map((field) => (
        <FormField
          key={field.name}
          id={`${elicitationId}-${field.name}`}
          field={field}
          entry={draft[field.name] ?? ''}
          problem={problems[field.name]}
          words={words}
          onChange={(entry) => change(field.name, entry)}
        />
      ))}
      {(count > 0 || failure !== null) && (
        <p className="problem" role="alert">
          {failure ?? words.checkFields(count)}
        </p>
      )}
      <div className="actions">
        {/* Not disabled: that would take the focus away from whoever has just pressed it. */}
        <button className="button" aria-disabled={isSending}>
          {isApproval ? words.approve : words.sendAnswer}
        </button>
        <button
          type="button"
          className="button quiet"
          aria-disabled={isSending}
          onClick={() => void answer({ action: 'decline' })}
        >
          {isApproval ? words.decline : words.notNow}
        </button>
      </div>
    </form>
  );
}
