import { useMemo, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { contentOf, emptyDraft, problemsFrom, problemsIn } from './form-draft.ts';
import type { Entry, Problems } from './form-draft.ts';
import type { CardProps } from './use-answer.ts';
import type { Field } from '../elicitation/form/field.ts';
import type { Words } from './words.ts';

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

function FormField(props: FieldProps) {
  const { id, field, problem, words } = props;
  const isGroup = field.kind === 'choices' || (field.kind === 'choice' && field.choices.length <= fewChoices);
  const notes = (
    <>
      {field.description !== undefined && (
        <p className="help" id={`${id}-help`} dir="auto">
          {field.description}
        </p>
      )}
      {problem !== undefined && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </>
  );
  const optional = !field.isRequired && field.kind !== 'boolean' && <small> {words.optional}</small>;
  if (isGroup) {
    return (
      <fieldset className="field" aria-describedby={describedBy(props)}>
        <legend dir="auto">
          {field.title}
          {optional}
        </legend>
        {notes}
        <Choices {...props} field={field} />
      </fieldset>
    );
  }
  if (field.kind === 'boolean') {
    return (
      <div className="field">
        <label className="tick">
          <input
            type="checkbox"
            id={id}
            name={id}
            checked={props.entry === true}
            aria-describedby={describedBy(props)}
            aria-invalid={problem !== undefined}
            onChange={(event) => props.onChange(event.currentTarget.checked)}
          />
          <span dir="auto">{field.title}</span>
        </label>
        {notes}
      </div>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id} dir="auto">
        {field.title}
        {optional}
      </label>
      {notes}
      <SingleInput {...props} field={field} />
    </div>
  );
}

/** Up to this many are shown as radio buttons; more become a select. */
const fewChoices = 4;

function describedBy({ id, field, problem }: FieldProps): string | undefined {
  const ids = [field.description !== undefined && `${id}-help`, problem !== undefined && `${id}-problem`];
  return ids.filter(Boolean).join(' ') || undefined;
}

function Choices({
  id,
  field,
  entry,
  problem,
  onChange,
}: FieldProps & { field: Extract<Field, { choices: unknown }> }) {
  const isMany = field.kind === 'choices';
  const chosen = Array.isArray(entry) ? entry : [entry];
  function toggle(value: string, isOn: boolean) {
    if (!isMany) return onChange(value);
    onChange(isOn ? [...chosen.map(String), value] : chosen.map(String).filter((one) => one !== value));
  }
  return field.choices.map(({ value, title }, index) => (
    <label className="tick" key={value}>
      <input
        type={isMany ? 'checkbox' : 'radio'}
        name={id}
        id={`${id}-${index}`}
        value={value}
        checked={chosen.includes(value)}
        aria-invalid={problem !== undefined}
        onChange={(event) => toggle(value, event.currentTarget.checked)}
      />
      <span dir="auto">{title}</span>
    </label>
  ));
}

function SingleInput(props: FieldProps & { field: Extract<Field, { kind: 'text' | 'number' | 'choice' }> }) {
  const { id, field, entry, problem, words, onChange } = props;
  const common = {
    id,
    name: id,
    value: String(entry),
    required: field.isRequired,
    'aria-invalid': problem !== undefined,
    'aria-describedby': describedBy(props),
    dir: 'auto',
  } as const;
  switch (field.kind) {
    case 'choice':
      return (
        <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{words.choose}</option>
          {field.choices.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      );
    case 'number':
      // Not type=number, which drops invalid text and changes with the mouse wheel.
      return (
        <input
          {...common}
          inputMode={field.isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text': {
      const isLong = field.format === undefined && (field.maxLength ?? 0) > longText;
      const Element = isLong ? 'textarea' : 'input';
      return (
        <Element
          {...common}
          {...(!isLong && { type: inputType[field.format ?? 'plain'] })}
          {...(field.format === 'email' && { autoComplete: 'email' })}
          onInput={(event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)}
        />
      );
    }
    default:
      return field satisfies never;
  }
}

const longText = 200;
const inputType = { plain: 'text', email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };
