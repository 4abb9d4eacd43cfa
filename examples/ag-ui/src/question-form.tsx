/** Inputs for a flat JSON Schema. They hold text; the service reads numbers from it and checks everything. */
import { useId } from 'react';
import type { FormEvent, ReactNode } from 'react';

/** The service lets no other schema through. */
export interface FormSchema {
  properties?: Record<string, Field>;
  required?: string[];
}

interface Field extends Choices {
  type?: string;
  title?: string;
  description?: string;
  format?: string;
  default?: string | number | boolean | string[];
  items?: Choices;
}

type Choice = { const: string; title?: string };
type Choices = { enum?: string[]; oneOf?: Choice[]; anyOf?: Choice[] };

interface Props {
  schema: FormSchema;
  /** The content that did not fit. */
  filled?: object;
  onFilled(content: Record<string, unknown>): void;
  others: ReactNode;
}

export function QuestionForm({
  schema: { properties = {}, required = [] },
  filled = {},
  onFilled,
  others,
}: Props) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const fields = Object.entries(properties);
    const values = fields.map(([name, field]) => [name, valueOf(field, data.getAll(name))] as const);
    onFilled(Object.fromEntries(values.filter(([, value]) => value !== '' && value !== undefined)));
  }
  return (
    <form onSubmit={submit}>
      {Object.entries(properties).map(([name, field]) => (
        <FormField
          key={name}
          name={name}
          field={{ ...field, default: (filled as Record<string, Field['default']>)[name] ?? field.default }}
          isRequired={required.includes(name)}
        />
      ))}
      <div className="buttons">
        <button className="primary">Send answer</button>
        {others}
      </div>
    </form>
  );
}

interface FieldProps {
  name: string;
  field: Field;
  isRequired: boolean;
}

function FormField({ name, field, isRequired }: FieldProps) {
  const id = useId();
  const { type, title = name, description } = field;
  return (
    <div className={type === 'boolean' ? 'field check' : 'field'}>
      <label htmlFor={id}>
        {title}
        {!isRequired && type !== 'boolean' && <small> (optional)</small>}
      </label>
      {description && <small id={`${id}-description`}>{description}</small>}
      <Input id={id} name={name} field={field} isRequired={isRequired} />
    </div>
  );
}

function valueOf({ type, format }: Field, values: FormDataEntryValue[]): unknown {
  const [first] = values;
  if (type === 'boolean') return first !== undefined;
  if (type === 'array') return values;
  const isTime = format === 'date-time' && typeof first === 'string' && first !== '';
  return isTime ? new Date(first).toISOString() : first;
}

/** As the input has it: without the zone. */
function toLocalTime(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const time = new Date(given);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const inputTypes = new Map([
  ['email', 'email'],
  ['uri', 'url'],
  ['date', 'date'],
  ['date-time', 'datetime-local'],
]);

function Input({ id, name, field, isRequired }: FieldProps & { id: string }) {
  const { type, format = '', default: given, description, items = field } = field;
  const described = description === undefined ? undefined : `${id}-description`;
  const common = { id, name, 'aria-describedby': described };
  if (type === 'boolean') return <input {...common} type="checkbox" defaultChecked={given === true} />;
  const choices = items.oneOf ?? items.anyOf ?? items.enum?.map((value): Choice => ({ const: value }));
  const value = {
    required: isRequired,
    defaultValue: format === 'date-time' ? toLocalTime(given) : (given as string | string[] | undefined),
  };
  if (!choices) return <input {...common} {...value} type={inputTypes.get(format)} />;
  return (
    <select {...common} {...value} multiple={type === 'array'}>
      {type !== 'array' && <option value="" />}
      {choices.map((choice) => (
        <option key={choice.const} value={choice.const}>
          {choice.title ?? choice.const}
        </option>
      ))}
    </select>
  );
}
