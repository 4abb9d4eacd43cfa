/** One field of a form, over the browser's own inputs. */
import type { Field } from '../elicitation/form/field.ts';
import type { Entry } from './form-draft.ts';
import type { Words } from './words.ts';

interface Props {
  id: string;
  field: Field;
  entry: Entry;
  problem: string | undefined;
  words: Words;
  onChange: (entry: Entry) => void;
}

export function FormField(props: Props) {
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

/** Up to this many are all shown; more go into a list that opens. */
const fewChoices = 4;

function describedBy({ id, field, problem }: Props): string | undefined {
  const ids = [field.description !== undefined && `${id}-help`, problem !== undefined && `${id}-problem`];
  return ids.filter(Boolean).join(' ') || undefined;
}

function Choices({
  id,
  field,
  entry,
  problem,
  onChange,
}: Props & { field: Extract<Field, { choices: unknown }> }) {
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

function SingleInput(props: Props & { field: Extract<Field, { kind: 'text' | 'number' | 'choice' }> }) {
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
      // Not type=number: it swallows what it does not understand, and the wheel changes it.
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
