import { useMemo, useRef, useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { fieldsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import {
  controlOf,
  notesOf,
  problemOfPattern,
  problemWith,
  wantedIn,
} from '@interlude-ai/core/elicitation/form/shown-field.ts';
import type { CardProps } from './use-answer.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import { fieldAt } from '@interlude-ai/client/interlude-error.ts';
import type { FieldError } from '@interlude-ai/client/interlude-error.ts';

export function FormQuestion({
  question,
  schema,
  answer,
  words,
}: CardProps & { schema: Record<string, unknown> }) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [draft, setDraft] = useState(() => emptyDraft(fields));
  const [problems, setProblems] = useState<Problems>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const { isSending, failure } = answer;
  // Not the field's name, which is untrusted: as an id it may contain spaces, and as an input's name it may hide members of
  // the form.
  const idOf = (index: number) => `${question.elicitationId}-${index}`;

  function change(name: string, entry: Entry) {
    setDraft((before) => new Map(before).set(name, entry));
    setProblems((before) => new Map([...before].filter(([other]) => other !== name)));
  }

  /** `focused`: the element that had the focus when the form was sent. */
  function show(found: Problems, focused: Element | null | undefined) {
    setProblems(found);
    const first = fields.findIndex(({ name }) => found.has(name));
    // After the messages are rendered, so that they are read with the field; unless the user has moved the focus meanwhile.
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
      const refused = problemsFrom(errors, fields, words);
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
        {/* Not `disabled`, which would remove the focus from the button. */}
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

interface FieldProps {
  id: string;
  field: Field;
  entry: Entry;
  problem: string | undefined;
  words: Words;
  onChange: (entry: Entry) => void;
}

function FormField({ id, field, entry, problem, words, onChange }: FieldProps) {
  const control = controlOf(field, words);
  const notes = notesOf(field, problem, words);
  const common = {
    name: id,
    'aria-describedby': notes.map(({ kind }) => `${id}-${kind}`).join(' ') || undefined,
    'aria-invalid': problem !== undefined,
  };
  const input = { ...common, id, value: String(entry), required: field.isRequired, dir: 'auto' } as const;
  const typed = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  const title = (
    <>
      {field.title}
      {!field.isRequired && <small> {words.optional}</small>}
    </>
  );
  const written = notes.map(({ kind, text }) => (
    <p
      key={kind}
      className={kind === 'problem' ? 'problem' : 'help'}
      id={`${id}-${kind}`}
      dir={kind === 'help' ? 'auto' : undefined}
    >
      {text}
    </p>
  ));
  const labelled = (element: ReactNode) => (
    <div className="field">
      <label htmlFor={id} dir="auto">
        {title}
      </label>
      {written}
      {element}
    </div>
  );
  switch (control.kind) {
    case 'checkbox':
      return (
        <div className="field">
          <label className="tick">
            <input
              {...common}
              type="checkbox"
              id={id}
              checked={entry === true}
              onChange={(event) => onChange(event.currentTarget.checked)}
            />
            <span dir="auto">{field.title}</span>
          </label>
          {written}
        </div>
      );
    case 'group': {
      const { 'aria-describedby': describedBy, ...each } = common;
      const chosen = [entry].flat();
      const toggle = (value: string, isOn: boolean) =>
        onChange(isOn ? [...chosen.map(String), value] : chosen.map(String).filter((one) => one !== value));
      return (
        <fieldset className="field" aria-describedby={describedBy}>
          <legend dir="auto">{title}</legend>
          {written}
          {control.choices.map(({ value, title: name }, index) => (
            <label className="tick" key={value}>
              <input
                {...each}
                type={control.type}
                id={`${id}-${index}`}
                value={value}
                checked={chosen.includes(value)}
                onChange={(event) =>
                  control.type === 'radio' ? onChange(value) : toggle(value, event.currentTarget.checked)
                }
              />
              <span dir="auto">{name}</span>
            </label>
          ))}
        </fieldset>
      );
    }
    case 'select':
      return labelled(
        <select {...input} onChange={typed}>
          <option value="">{words.choose}</option>
          {control.choices.map(({ value, title: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>,
      );
    case 'textarea':
      return labelled(<textarea {...input} onInput={typed} />);
    case 'input': {
      const { kind: _, ...look } = control;
      return labelled(<input {...input} {...look} onInput={typed} />);
    }
    default:
      return control satisfies never;
  }
}

// A form while it is filled in: the entries of its fields, as the browser holds them, and what is wrong with them.

/** The value of an input: text, a checkbox, or the checked values of a list. */
export type Entry = string | boolean | string[];
/** By the field's name. A map, because the names are untrusted: an object already has some members. */
export type Draft = ReadonlyMap<string, Entry>;
type Problems = ReadonlyMap<string, string>;

export function emptyDraft(fields: readonly Field[]): Draft {
  return new Map(fields.map((field) => [field.name, initial(field)]));
}

function initial(field: Field): Entry {
  switch (field.kind) {
    case 'boolean':
      return field.default ?? false;
    case 'choices':
      return field.default ?? [];
    case 'text':
      return field.format === 'date-time' ? localTime(field.default) : (field.default ?? '');
    case 'number':
      return field.default === undefined ? '' : String(field.default);
    case 'choice':
      return field.default ?? '';
    default:
      return field satisfies never;
  }
}

/** For `datetime-local`, in local time; empty for a year that it cannot show. */
function localTime(instant: string | undefined): string {
  const time = new Date(instant ?? '');
  const year = time.getFullYear();
  if (!(year >= 1 && year <= 9999)) return '';
  const [month, day, hour, minute] = [
    time.getMonth() + 1,
    time.getDate(),
    time.getHours(),
    time.getMinutes(),
  ].map((part) => String(part).padStart(2, '0'));
  return `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}`;
}

/** An unchanged default is sent as it was, with its seconds; an invalid time stays as it is, to be reported. */
function instantOf(entry: string, given: string | undefined): string {
  if (entry === '') return '';
  if (given !== undefined && entry === localTime(given)) return given;
  const time = new Date(entry);
  return Number.isNaN(time.getTime()) ? entry : time.toISOString();
}

export function contentOf(fields: readonly Field[], draft: Draft): Record<string, unknown> {
  const values = fields.map((field) => {
    const entry = draft.get(field.name) ?? initial(field);
    const isTime = field.kind === 'text' && field.format === 'date-time' && typeof entry === 'string';
    return [field.name, isTime ? instantOf(entry, field.default) : entry] as const;
  });
  return coerceContent([...fields], Object.fromEntries(values));
}

/**
 * What can be checked without the service, which checks everything again. `unfinished`: the names of fields with an
 * incomplete date, for which browsers return an empty value.
 */
export function problemsIn(
  fields: readonly Field[],
  draft: Draft,
  words: Words,
  unfinished: ReadonlySet<string> = new Set(),
): Problems {
  const content = new Map(Object.entries(contentOf(fields, draft)));
  const found = fields.flatMap((field) => {
    const problem = unfinished.has(field.name)
      ? wantedIn(field, words)
      : problemWith(field, content.get(field.name), words);
    return problem === null ? [] : [[field.name, problem] as const];
  });
  return new Map(found);
}

/** The service's errors by field; null when one of them is about no field. */
export function problemsFrom(
  errors: readonly FieldError[],
  fields: readonly Field[],
  words: Words,
): Problems | null {
  const found = new Map<string, string>();
  for (const { pointer, detail } of errors) {
    const field = fields.find(({ name }) => name === fieldAt(pointer));
    if (!field) return null;
    if (!found.has(field.name)) found.set(field.name, problemOfPattern(field, words) ?? detail);
  }
  return errors.length === 0 ? null : found;
}
