import { useMemo, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { FormField } from './form-field.tsx';
import { contentOf, emptyDraft, problemsFrom, problemsIn } from './form-draft.ts';
import type { Entry, Problems } from './form-draft.ts';
import type { CardProps } from './card-props.ts';

export function FormQuestion({
  question,
  schema,
  answer,
  words,
}: CardProps & { schema: Record<string, unknown> }) {
  const read = useMemo(() => readRequestedSchema(schema), [schema]);
  const fields = read.kind === 'form' ? read.fields : [];
  const [draft, setDraft] = useState(() => emptyDraft(fields));
  const [problems, setProblems] = useState<Problems>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const { isSending, failure } = answer;
  // Names are a stranger's: as an id, one with a space would be two; as the name of an input, one could stand in the
  // place of what the form itself can do.
  const idOf = (index: number) => `${question.elicitationId}-${index}`;

  function change(name: string, entry: Entry) {
    setDraft((before) => new Map(before).set(name, entry));
    setProblems((before) => new Map([...before].filter(([other]) => other !== name)));
  }

  /** `focused`: what had the focus when the form was sent. */
  function show(found: Problems, focused: Element | null | undefined) {
    setProblems(found);
    const first = fields.findIndex(({ name }) => found.has(name));
    // After the messages are there, so that they are read with the field; unless somebody has moved on meanwhile.
    requestAnimationFrame(() => {
      if (focusedElement() === focused) inputOf(first)?.focus();
    });
  }

  function focusedElement(): Element | null | undefined {
    return (form.current?.getRootNode() as Document | ShadowRoot | undefined)?.activeElement;
  }

  function inputOf(index: number): HTMLInputElement | null | undefined {
    return form.current?.querySelector<HTMLInputElement>(`[name="${idOf(index)}"]`);
  }

  async function send(event: FormEvent) {
    event.preventDefault();
    if (isSending) return;
    const focused = focusedElement();
    const unfinished = fields.filter((_, index) => inputOf(index)?.validity.badInput);
    const found = problemsIn(fields, draft, words, new Set(unfinished.map(({ name }) => name)));
    if (found.size > 0) return show(found, focused);
    await answer.send({ action: 'accept', content: contentOf(fields, draft) }, (errors) => {
      const refused = problemsFrom(errors, fields);
      if (refused) show(refused, focused);
      return refused !== null;
    });
  }

  const count = problems.size;
  const isEmpty = fields.length === 0;
  return (
    <form ref={form} noValidate onSubmit={(event) => void send(event)} aria-busy={isSending}>
      {fields.map((field, index) => (
        <FormField
          key={field.name}
          id={idOf(index)}
          field={field}
          entry={draft.get(field.name) ?? ''}
          problem={problems.get(field.name)}
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
          {isEmpty ? words.confirm : words.sendAnswer}
        </button>
        <button
          type="button"
          className="button quiet"
          aria-disabled={isSending}
          onClick={() => void answer.send({ action: 'decline' })}
        >
          {words.notNow}
        </button>
      </div>
    </form>
  );
}
